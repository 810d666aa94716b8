import OnesheetCore
import XCTest

final class URLPrefixTests: XCTestCase {
    func testThatACombiningMarkDoesNotHideAWayUp() throws {
        // Given a path that is above the prefix once a server has decoded its escapes
        let prefix = try XCTUnwrap(URLPrefix("https://a.example/posters/"))
        for path in ["%2e%2e%2f\u{301}x", "..%2F\u{301}", "%2E\u{2E}/\u{301}", "x/..%5c\u{301}"] {
            // When
            let url = try XCTUnwrap(WebURL("https://a.example/posters/\(path)"))
            // Then
            XCTAssertFalse(prefix.matches(url), path)
        }
    }

    func testThatAPrefixMatchesWhatItSaysAndNothingElse() throws {
        // Given pattern, URL, whether it matches
        let cases: [(String, String, Bool)] = [
            ("https://images.example.com/", "https://images.example.com/", true),
            ("https://images.example.com", "https://images.example.com/a/b.jpg?x=1", true),
            ("https://images.example.com/", "http://images.example.com/", false),
            ("https://images.example.com/", "https://images.example.com:8443/", false),
            ("https://images.example.com/", "https://images.example.com.attacker.com/", false),
            ("https://images.example.com/", "https://attacker.com/images.example.com/", false),
            ("https://images.example.com/", "https://images.example.com./", false),
            ("https://images.example.com/", "https://x.images.example.com/", false),
            ("https://IMAGES.example.com/", "https://images.EXAMPLE.com/a", true),
            ("https://*.example.com/", "https://a.example.com/", true),
            ("https://*.example.com/", "https://a.b.example.com/", true),
            ("https://*.example.com/", "https://example.com/", false),
            ("https://*.example.com/", "https://notexample.com/", false),
            ("https://*.example.com/", "https://a.example.com.attacker.com/", false),
            ("https://*.cdn.example.com:8443/", "https://a.cdn.example.com:8443/x", true),
            ("https://*.cdn.example.com:8443/", "https://a.cdn.example.com/x", false),
            ("http://localhost:*/", "http://localhost:40000/", true),
            ("http://localhost:*/", "https://localhost:40000/", false),
            ("http://[::1]:9000/", "http://[::1]:9000/a", true),
            ("http://[::1]/", "http://[::1]:9000/a", false),
            ("http://[::1]:*/", "http://[::1]:9000/a", true),
            ("https://a.example/posters", "https://a.example/posters", true),
            ("https://a.example/posters", "https://a.example/posters/1.jpg", true),
            ("https://a.example/posters", "https://a.example/posters-secret/1.jpg", false),
            ("https://a.example/posters/", "https://a.example/posters", false),
            ("https://a.example/posters/", "https://a.example/Posters/", false),
        ]

        for (pattern, text, expected) in cases {
            // When
            let prefix = try XCTUnwrap(URLPrefix(pattern), pattern)
            let url = try XCTUnwrap(WebURL(text), text)

            // Then
            XCTAssertEqual(prefix.matches(url), expected, "\(pattern) and \(text)")
        }
    }

    func testThatAPathCannotClimbOutOfThePrefix() throws {
        // Given
        let prefix = try XCTUnwrap(URLPrefix("https://a.example/posters/"))
        let texts = [
            "https://a.example/posters/../secret", "https://a.example/posters/%2e%2e/secret",
            "https://a.example/posters/.%2E/secret",
            "https://a.example/posters/..%2fsecret", "https://a.example/posters/x/..%5Csecret", "https://a.example/posters/..",
            "https://a.example/posters/../\u{301}secret",
        ]

        for text in texts {
            // When
            let url = try XCTUnwrap(WebURL(text), text)

            // Then
            XCTAssertFalse(prefix.matches(url), text)
        }
        for path in ["a..b/...jpg", "..a", "a/%2e%2e%2e/b", "%2", "%", "a%2e%2e", "%2e", "%2fa%5c.", "..%2", "..%2g/"] {
            XCTAssertTrue(prefix.matches(try XCTUnwrap(WebURL("https://a.example/posters/\(path)"), path)), path)
        }
    }

    func testThatWhatIsNoPatternIsRefused() {
        // Given
        let texts = [
            "", "images.example.com", "ftp://a.example/", "https://", "https:///x", "https://*/", "https://*./",
            "https://a.*.example/",
            "https://a.example:0/", "https://a.example:x/", "https://user@a.example/", "https://a.example/?q",
            "https://a.example/#f",
            "https://*example.com/", "https://::1/", "https://*.127.0.0.1/", "https://exa mple.com/",
        ]

        // When
        let prefixes = texts.map { ($0, URLPrefix($0)) }

        // Then
        for (text, prefix) in prefixes { XCTAssertNil(prefix, text) }
    }
}
