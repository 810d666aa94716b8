import OnesheetCore
import XCTest

final class ShownURLTests: XCTestCase {
    func testThatAQueryIsNotShown() {
        XCTAssertEqual(shown("https://a.example/x.jpg?key=secret#part"), "https://a.example/x.jpg")
        XCTAssertEqual(shown("https://a.example/x.jpg#part?key"), "https://a.example/x.jpg")
        XCTAssertEqual(shown(""), "")
    }

    func testThatALongURLIsCut() {
        // Given URLs of eight kilobytes, with one byte, three bytes and many scalars per character
        for character in ["a", "영", "e\u{301}\u{302}\u{303}"] {
            let url = "https://a.example/" + String(repeating: character, count: 8000)
            // When they are shortened
            let text = shown(url)
            // Then they have the same beginning and are short
            XCTAssertLessThanOrEqual(text.utf8.count, 204)
            XCTAssertTrue(url.utf8.starts(with: text.dropLast().utf8) || text.hasSuffix("…"))
            XCTAssertTrue(text.unicodeScalars.allSatisfy { $0 != "\u{FFFD}" })
        }
    }

    func testThatNoErrorShowsAQueryOrIsLong() {
        let url = "https://a.example/x?key=secret" + String(repeating: "a", count: 8000)
        let errors: [HTTPTransportError] = [
            .forbidden(url: url, reason: "r"), .invalidURL(url), .timedOut(url: url), .tooLarge(url: url, limit: 1),
            .tooManyRedirects(url: url), .unavailable(url: url, retryAfter: 1), .crowded(url: url, retryAfter: 1),
            .overloaded(url: url), .failed(url: url, reason: "r"),
        ]
        for error in errors {
            for text in ["\(error)", "\(SourceError(error))"] {
                XCTAssertFalse(text.contains("secret"), text)
                XCTAssertLessThan(text.utf8.count, 400)
            }
        }
    }
}
