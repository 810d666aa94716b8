import XCTest

@testable import OnesheetValues

final class StreamSafeTextTests: XCTestCase {
    private func marks(_ count: Int) -> String { String(repeating: "\u{301}", count: count) }

    func testThatThirtyMarksInARowAreAllowedAndNoMore() {
        for text in ["", "e", "e" + marks(30), marks(30) + "e" + marks(30), "한글 제목", String(repeating: "가", count: 1000)] {
            XCTAssertTrue(text.isStreamSafe)
            XCTAssertEqual(text.streamSafe, text)
        }
        // U+0F73 decomposes into marks, and U+0315 and U+20D0 are others.
        for mark in ["\u{301}", "\u{F73}", "\u{315}", "\u{20D0}", "\u{3099}"] {
            XCTAssertFalse(("e" + String(repeating: mark, count: 31)).isStreamSafe, mark)
        }
        XCTAssertFalse((marks(15) + String(repeating: "\u{316}", count: 16)).isStreamSafe)
    }

    func testThatAJoinerFollowsEachThirtyMarks() {
        let text = "a" + marks(95) + "b" + marks(31)
        let safe = text.streamSafe
        XCTAssertTrue(safe.isStreamSafe)
        XCTAssertEqual(safe.unicodeScalars.count { $0 == "\u{34F}" }, 4)
        XCTAssertTrue(String(String.UnicodeScalarView(safe.unicodeScalars.filter { $0 != "\u{34F}" })).isExactly(text))
        XCTAssertEqual(safe.unicodeScalars.firstIndex(of: "\u{34F}").map { safe.unicodeScalars[..<$0].count }, 31)
    }

    func testThatTextFromOutsideIsStreamSafe() throws {
        let many = marks(8000) + String(repeating: "\u{316}", count: 8000)
        XCTAssertThrowsError(try PercentEncoding.decode(PercentEncoding.encode(many)))
        let value = try JSONValue(reading: "{\"\(many)\": \"\(many)\"}".utf8)
        guard case .object(let members) = value, case (let name, .string(let text))? = members.first else {
            return XCTFail("\(value)")
        }
        XCTAssertTrue(name.isStreamSafe)
        XCTAssertTrue(text.isStreamSafe)
    }
}
