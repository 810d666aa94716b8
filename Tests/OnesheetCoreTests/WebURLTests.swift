import OnesheetCore
import OnesheetTesting
import XCTest

final class WebURLTests: XCTestCase {
    func testThatAURLIsReadInItsParts() throws {
        // Given
        let text = "HTTPS://Images.Example.COM:8443/a/b.jpg?type=w1&x=2#part"

        // When
        let url = try XCTUnwrap(WebURL(text))

        // Then
        XCTAssertEqual(url.scheme, "https")
        XCTAssertEqual(url.host, "images.example.com")
        XCTAssertEqual(url.port, 8443)
        XCTAssertEqual(url.path, "/a/b.jpg")
        XCTAssertEqual(url.query, "type=w1&x=2")
        XCTAssertEqual(url.description, "https://images.example.com:8443/a/b.jpg?type=w1&x=2")
    }

    func testThatMissingPartsHaveTheirUsualValues() throws {
        // Given
        let texts = ["http://a.example", "https://a.example?q", "http://[::1]:8080/x", "https://a.example:443/"]

        // When
        let urls = try texts.map { try XCTUnwrap(WebURL($0), $0) }

        // Then
        XCTAssertEqual(urls.map(\.port), [80, 443, 8080, 443])
        XCTAssertEqual(urls.map(\.path), ["/", "/", "/x", "/"])
        XCTAssertEqual(urls.map(\.query), [nil, "q", nil, nil])
        XCTAssertEqual(urls.map(\.host), ["a.example", "a.example", "::1", "a.example"])
        XCTAssertEqual(urls[3].description, "https://a.example/")
    }

    func testThatWhatClientsReadDifferentlyIsNoURL() {
        // Given
        let texts = [
            "", "a.example/x", "ftp://a.example/", "file:///etc/passwd", "javascript://a", "http:/a.example", "http://",
            "http:///x",
            "http://user@a.example/", "http://a.example@evil.example/", "http://a.example:80@evil.example/", "http://a b.example/",
            "http://a.example\\@evil.example/", "http ://a.example/", "http://a.example:80 /", "http://a.example/\u{0}",
            "http://a.example/\r\nHost: b",
            "http://a.example:/", "http://a.example:0/", "http://a.example:65536/", "http://a.example:+80/",
            "http://a.example:8e1/",
            "http://::1/", "http://[::1/", "http://[::1]x/", "http://[a.example]/", "http://exämple..de/", "http://a%2eexample/",
            "http://[fe80::1%25eth0]/",
            "http://" + String(repeating: "a", count: 254) + "/", "http://a.example/" + String(repeating: "a", count: 8192),
        ]

        // When
        let urls = texts.map { ($0, WebURL($0)) }

        // Then
        for (text, url) in urls { XCTAssertNil(url, text) }
    }

    func testThatACombiningMarkDoesNotHideADelimiter() throws {
        // Given a combining mark that forms one character with the delimiter before it
        let texts = ["http://a.example/\u{301}x", "http://a.example?\u{301}x", "http://a.example/a#\u{301}b"]

        // When
        let urls = try texts.map { try XCTUnwrap(WebURL($0), $0) }

        // Then
        XCTAssertEqual(urls.map(\.host), ["a.example", "a.example", "a.example"])
        XCTAssertEqual(urls[1].query, "%CC%81x")
        XCTAssertEqual(urls[2].path, "/a")
    }

    func testThatSpacesAndLettersBeyondASCIIAreEncoded() throws {
        // Given a URL as people write it, and as requests carry it
        let written = try XCTUnwrap(WebURL("https://a.example/한 산/film é.jpg?q=전우치 2&x=%20"))
        let encoded = "https://a.example/%ED%95%9C%20%EC%82%B0/film%20%C3%A9.jpg?q=%EC%A0%84%EC%9A%B0%EC%B9%98%202&x=%20"
        // Then they are one
        XCTAssertEqual(written.description, encoded)
        XCTAssertEqual(WebURL(encoded), written)
        // And a prefix that is written either way matches
        for prefix in ["https://a.example/한 산/", "https://a.example/%ED%95%9C%20%EC%82%B0/"] {
            XCTAssertEqual(URLPrefix(prefix)?.matches(written), true, prefix)
        }
        XCTAssertEqual(written.resolving("/ü x")?.path, "/%C3%BC%20x")
    }

    func testThatACombiningMarkTakesNothingFromAPort() throws {
        // Given a page whose query or path begins with a combining mark
        let pages = ["http://a.example:18410?\u{301}z", "http://a.example:18410/\u{301}x/y?\u{600}"]
        for text in pages {
            // When it redirects
            let page = try XCTUnwrap(WebURL(text), text)
            // Then the port is the page's, and not the one without its last digit
            XCTAssertEqual(page.resolving("/q")?.description, "http://a.example:18410/q")
            XCTAssertEqual(page.resolving("?q")?.port, 18410)
            XCTAssertEqual(page.resolving("q")?.port, 18410)
        }
    }

    func testThatAURLInTheQueryIsNoSchemeOfTheReference() throws {
        let page = try XCTUnwrap(WebURL("http://a.example/x/y"))
        XCTAssertEqual(
            page.resolving("/login?next=https://b.example/")?.description, "http://a.example/login?next=https://b.example/")
        XCTAssertNil(page.resolving("mailto:x"))
    }

    func testThatURLsAreToldApartByTheirBytes() throws {
        for (one, other) in LookalikeTexts.pairs {
            let urls = try [one, other].map { try XCTUnwrap(WebURL("http://a.example/\($0)")) }
            XCTAssertNotEqual(urls[0], urls[1])
            XCTAssertEqual(Set(urls).count, 2)
        }
    }

    func testThatDigitsAreThoseOfASCII() {
        for text in ["http://[\u{FF11}::1]/", "http://a.example:\u{FF18}0/", "http://[::1]\u{301}/", "http://[::1]:\u{301}80/"] {
            XCTAssertNil(WebURL(text), text)
        }
    }

    func testThatAReferenceIsSeenFromItsPage() throws {
        // Given
        let page = try XCTUnwrap(WebURL("http://a.example:8080/x/y?z=1"))
        let cases = [
            ("https://b.example/q", "https://b.example/q"), ("//b.example/q", "http://b.example/q"),
            ("/q?r", "http://a.example:8080/q?r"),
            ("q", "http://a.example:8080/x/q"), ("?r=2", "http://a.example:8080/x/y?r=2"),
            ("#z", "http://a.example:8080/x/y?z=1"), ("", "http://a.example:8080/x/y?z=1"),
            ("q#z?r", "http://a.example:8080/x/q"),
        ]

        // When
        let resolved = cases.map { page.resolving($0.0)?.description }

        // Then
        XCTAssertEqual(resolved, cases.map(\.1))
        XCTAssertNil(page.resolving("ftp://b.example/"))
        XCTAssertNil(page.resolving("//user@b.example/"))
    }

    func testDotSegmentsOfAReferenceAreRemoved() throws {
        // Given the examples of RFC 3986 §5.4, and escaped dots as browsers read them
        let page = try XCTUnwrap(WebURL("http://a/b/c/d;p?q"))
        let cases = [
            ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), (".", "/b/c/"),
            ("./", "/b/c/"), ("..", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../g", "/g"), ("../../../g", "/g"),
            ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"), ("g?y/../x", "/b/c/g?y/../x"), ("%2E%2e/g", "/b/g"), (".%2E/g", "/b/g"), ("%2e/g", "/b/c/g"),
            ("http://a/x/../../y/./z", "/y/z"), ("/x//../y", "/x/y"), ("/x/..%2fy", "/x/..%2fy"), ("//a/..", "/"),
        ]
        for (reference, path) in cases {
            XCTAssertEqual(page.resolving(reference)?.description, "http://a" + path, reference)
        }
    }

    func testANameBeyondASCIIIsAskedForInPunycode() throws {
        // Given names that libidn2 and browsers convert to these, and some of RFC 3492 §7.1
        let names = [
            ("bücher.de", "xn--bcher-kva.de"), ("BÜCHER.DE", "xn--bcher-kva.de"), ("faß.de", "xn--fa-hia.de"),
            ("한국.kr", "xn--3e0b707e.kr"), ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("a_ü.de", "xn--a_-yka.de"),
            ("ドメイン名例.jp", "xn--eckwd4c7cu47r2wf.jp"), ("💩.la", "xn--ls8h.la"), ("الأردن.jo", "xn--igbhzh7gpa.jo"),
            ("ü.", "xn--tda."), ("www.Ελλάδα.gr", "www.xn--hxakic4aa.gr"), ("xn--a.ü", "xn--a.xn--tda"),
            ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
            ("почемужеонинеговорятпорусски", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ]
        for (name, ascii) in names {
            // When a URL has the name
            let url = WebURL("http://\(name):8080/ü")
            // Then it has the name in Punycode, and so has an allow-list
            XCTAssertEqual(url?.host, ascii, name)
            XCTAssertEqual(url?.port, 8080)
            if let url { XCTAssertEqual(URLPrefix("http://\(name):8080/")?.matches(url), true, name) }
        }
    }

    func testANameThatBrowsersChangeFirstIsRefused() {
        for name in [
            "e\u{301}.fr", "a℀b.com", "ﬁ.de", "１２７.0.0.1", "ü..de", ".ü.de", "-ü.de", "ü-.de", "ü\u{AD}.de", "ü\u{200D}.de",
            "\u{301}.de",
            "ü .de", "ü%.de", "\u{1100}\u{1161}.kr", "か\u{3099}.jp", "\u{E000}.de", String(repeating: "ü", count: 64) + ".de",
            String(repeating: "ü.", count: 60) + "de",
        ] {
            XCTAssertNil(WebURL("http://\(name)/"), name)
        }
    }
}
