import OnesheetCore
import XCTest

@testable import OnesheetHTTP

final class AcceptTests: XCTestCase {
    func testThatTheClientsWishIsMet() {
        let accept = Accept(formats: [.jpeg, .png, .webp])
        let table: [(String?, ImageFormat)] = [
            (nil, .jpeg), ("", .jpeg), ("*/*", .jpeg), ("image/*", .jpeg), ("image/png", .png), ("text/html", .jpeg),
            ("image/jpeg;q=0.5, image/png", .png), ("image/png;q=0, */*", .jpeg), ("image/png;q=0.2,image/jpeg;q=0.1", .png),
            ("image/webp,*/*;q=0.8", .webp), ("image/webp;q=0,*/*", .jpeg), ("IMAGE/PNG", .png),
            ("image/avif,image/webp,image/apng,*/*", .webp),
            ("image/jpeg;q=abc", .jpeg), (",,;;", .jpeg), ("image/*;q=0, image/png;q=0.1, */*", .png),
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
        XCTAssertEqual(accept.choose("image/png, image/jpeg"), .jpeg)
    }

    func testThatAVIFIsForThoseWhoNameIt() {
        let accept = Accept(formats: [.jpeg, .png, .webp, .avif])
        let table: [(String?, ImageFormat)] = [
            (nil, .jpeg), ("*/*", .jpeg), ("image/*", .jpeg), ("image/avif", .avif), ("image/avif,*/*", .avif),
            ("image/avif;q=0.1", .avif), ("image/avif;q=0, */*", .jpeg), ("image/avif;q=0", .jpeg),
            ("image/avif;q=0.9, image/webp;q=0.8", .avif), ("image/avif;q=0.8, image/webp;q=0.9", .webp),
            ("image/avif;q=0.5, image/jpeg", .jpeg), ("image/webp,*/*", .webp), ("image/avif;q=0.6, image/*;q=0.5", .avif),
            ("IMAGE/AVIF", .avif), ("image/avif-sequence", .jpeg), ("image/avif;q=0.1, */*;q=0.9", .jpeg),
        ]
        for (header, format) in table { XCTAssertEqual(accept.choose(header), format, header ?? "no header") }
    }

    func testThatNobodyGetsAVIFFromAServerThatDoesNotMakeIt() {
        XCTAssertEqual(Accept(formats: [.jpeg, .png, .webp]).choose("image/avif"), .jpeg)
    }
}
