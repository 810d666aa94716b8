import OnesheetCore
import XCTest

@testable import OnesheetHTTP

final class AcceptTests: XCTestCase {
    func testThatTheClientsWishIsMet() {
        let accept = Accept(formats: [.jpeg, .png, .webp])
        let table: [(String?, ImageFormat?)] = [
            (nil, nil), ("", nil), ("*/*", nil), ("image/*", nil), ("image/png", .png), ("image/jpeg", .jpeg), ("text/html", nil),
            ("image/png, image/jpeg", nil), ("image/jpeg, */*", .jpeg), ("image/jpeg;q=0.5, image/png", .png),
            ("image/png;q=0, */*", .jpeg), ("image/png;q=0.2,image/jpeg;q=0.1", .png), ("image/webp,*/*;q=0.8", .webp),
            ("image/webp;q=0,*/*", nil), ("IMAGE/PNG", .png), ("image/avif,image/webp,image/apng,*/*", .webp),
            ("image/jpeg;q=abc", .jpeg), (",,;;", nil), ("image/*;q=0, image/png;q=0.1, */*", .png),
            ("image/png;q=nan, image/jpeg;q=0.1", .jpeg),
        ]
        for (header, format) in table { XCTAssertEqual(accept.choose(header), format, header ?? "no header") }
    }

    func testThatTheSmallestFormatWinsIfTheClientReadsSeveral() {
        let accept = Accept(formats: [.jpeg, .png, .webp, .avif])
        for header in ["image/avif,image/webp,image/apng,*/*", "image/jpeg, image/webp, image/avif", "image/*, image/avif;q=0.5"] {
            XCTAssertEqual(accept.choose(header), .avif, header)
        }
        XCTAssertEqual(accept.choose("image/png, image/jpeg, image/webp"), .webp)
    }

    func testThatAVIFIsForThoseWhoNameIt() {
        let accept = Accept(formats: [.jpeg, .png, .webp, .avif])
        let table: [(String?, ImageFormat?)] = [
            (nil, nil), ("*/*", nil), ("image/*", nil), ("image/avif", .avif), ("image/avif,*/*", .avif),
            ("image/avif;q=0.1", .avif), ("image/avif;q=0, */*", nil), ("image/avif;q=0", nil),
            ("image/avif;q=0.9, image/webp;q=0.8", .avif), ("image/avif;q=0.8, image/webp;q=0.9", .webp),
            ("image/avif;q=0.5, image/jpeg", .jpeg), ("image/webp,*/*", .webp), ("image/avif;q=0.6, image/*;q=0.5", .avif),
            ("IMAGE/AVIF", .avif), ("image/avif-sequence", nil), ("image/avif;q=0.1, */*;q=0.9", nil),
        ]
        for (header, format) in table { XCTAssertEqual(accept.choose(header), format, header ?? "no header") }
    }

    func testTheNextFormatIsTheOneThatTheClientWantsMostOfTheRest() {
        let accept = Accept(formats: [.jpeg, .png, .webp, .avif])
        let table: [(String, Set<ImageFormat>, ImageFormat?)] = [
            ("image/avif,image/webp,*/*", [.avif], .webp), ("image/avif,image/webp,*/*", [.avif, .webp], nil),
            ("image/webp", [.webp], nil), ("image/webp,image/png", [.webp], .png), ("image/jpeg", [.jpeg], nil),
            ("image/avif;q=0.5,image/webp", [.webp], .avif),
        ]
        for (header, unfit, format) in table { XCTAssertEqual(accept.choose(header, without: unfit), format, header) }
    }

    func testThatNobodyGetsAVIFFromAServerThatDoesNotMakeIt() {
        XCTAssertNil(Accept(formats: [.jpeg, .png, .webp]).choose("image/avif"))
    }

    func testThatAFormatIsChosenOnlyIfTheServerMakesIt() {
        XCTAssertNil(Accept(formats: [.jpeg]).choose("image/png"))
    }
}
