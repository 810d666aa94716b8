import OnesheetCore
import XCTest

final class ShownURLTests: XCTestCase {
    func testThatAQueryIsNotShown() {
        XCTAssertEqual(shown("https://a.example/x.jpg?key=secret#part"), "https://a.example/x.jpg")
        XCTAssertEqual(shown("https://a.example/x.jpg#part?key"), "https://a.example/x.jpg")
        XCTAssertEqual(shown(""), "")
    }

    func testUserIsNotShown() {
        for (url, text) in [
            ("http://admin:pw@a.example/x.jpg?key=1", "http://a.example/x.jpg"), ("https://a@b@c.example", "https://c.example"),
            ("http://a.example/x@y.jpg", "http://a.example/x@y.jpg"), ("ftp://pw@a.example/", "ftp://a.example/"),
            ("poster: a@b", "poster: a@b"), ("film@2x.jpg", "film@2x.jpg"),
        ] {
            XCTAssertEqual(shown(url), text)
            XCTAssertEqual(publicPart(of: url), text)
        }
        let long = "http://a.example/" + String(repeating: "x", count: 300)
        XCTAssertEqual(publicPart(of: long + "?key"), long)
    }

    func testThatATitleWhoseIDIsAURLHasNoQuery() {
        let url = "https://a.example/x.jpg"
        for (id, text) in [
            ("\(url)?key=secret", url), ("HTTP://a.example?key=secret", "HTTP://a.example"), ("\(url)#?secret", url),
            ("what?.jpg", "what?.jpg"), ("1#2", "1#2"), ("http:?", "http:?"), ("", ""),
        ] {
            XCTAssertEqual(shown(id: id), text)
            XCTAssertEqual(shown(TitleReference(source: "web", id: id)), "web://\(text)")
            XCTAssertEqual(shown(naming: "original:web://\(id)"), "original:web://\(text)")
        }
        XCTAssertEqual(shown(naming: "\(url)?key=secret"), url)
        XCTAssertEqual("\(SourceError.notFound(id: "\(url)?key=secret"))", "there is no title “\(url)”")
    }

    func testThatAPathHasNoQueryOfAURL() {
        for (path, text) in [
            ("/i/unsafe/w:60/plain/https://a.example/x%3Fkey=secret@jpg", "/i/unsafe/w:60/plain/https://a.example/x"),
            ("/t/p/w92/web/HTTP%3A%2f%2Fa.example%2Fx%3fkey%3Dsecret", "/t/p/w92/web/HTTP%3A%2f%2Fa.example%2Fx"),
            ("/i/s/plain/web:%2F%2Fhttps%253A%252F%252Fa%252Fx%253Fsecret@jpg", "/i/s/plain/web:%2F%2Fhttps%253A%252F%252Fa%252Fx"),
            ("/thumbor/unsafe/http:/a.example/x%23secret", "/thumbor/unsafe/http:/a.example/x"),
            ("/t/p/w92/posters/what%3F.jpg", "/t/p/w92/posters/what%3F.jpg"), ("/http", "/http"), ("/https%3A%2F", "/https%3A%2F"),
            ("", ""),
        ] {
            XCTAssertEqual(shown(path: path), text)
            XCTAssertEqual("\(RequestError.noSuchPath(path))", "there is nothing at \(text)")
        }
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
