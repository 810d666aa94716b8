import XCTest

@testable import OnesheetHTTP

final class WeightedValuesTests: XCTestCase {
    func testThatAClientAsksForWhatItNamesAndAccepts() {
        let table: [(String?, Bool)] = [
            ("text/html", true), ("TEXT/HTML", true), ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("application/json,\t text/html ; q=0.1", true), ("text/html;charset=utf-8", true), ("text/html;q=x", true),
            ("text/html;q=0, text/html;q=0.5", true),
            (nil, false), ("", false), ("*/*", false), ("text/*", false), ("text/html;q=0", false),
            ("text/html;q=0.000, */*", false),
            ("text/htmlx", false), ("xtext/html", false), ("text/plain;x=text/html", false), ("text/html;q=nan", false),
            ("text/html;q=-1", false),
        ]
        for (field, asks) in table { XCTAssertEqual(WeightedValues(field).asks(for: "text/html"), asks, field ?? "no field") }
    }

    func testThatOnlyTheFirstValuesOfALongFieldAreRead() {
        // Given a field with more values than any client sends
        XCTAssertEqual(WeightedValues((0..<40).map { "a\($0)" }.joined(separator: ",")).all.map(\.name).last, "a31")
        // And one with more bytes, in one value or before the end of one
        XCTAssertEqual(WeightedValues("a" + String(repeating: ";", count: 1024)).all.count, 0)
        let cut = "image/avif," + String(repeating: " ", count: 1024 - 21) + "image/webp;q=0"
        XCTAssertEqual(WeightedValues(cut).all.map(\.name), ["image/avif"])
    }

    func testThatTheOrderOfTheClientStays() {
        let values = WeightedValues("ko-KR, , en;q=0.5, *;q=7").all
        XCTAssertEqual(values.map(\.name), ["ko-kr", "en", "*"])
        XCTAssertEqual(values.map(\.quality), [1, 0.5, 1])
    }

    func testThatACodingIsAcceptedByNameOrByWildcard() {
        for (field, quality) in [
            (nil, 0), ("", 0), ("gzip", 1), ("GZIP; q=0.25", 0.25), ("*", 1), ("*, gzip;q=0", 0), ("br, *;q=0.5", 0.5), ("br", 0),
        ] as [(String?, Double)] {
            XCTAssertEqual(ContentCodings(field).quality(of: "gzip"), quality, field ?? "no field")
        }
    }
}
