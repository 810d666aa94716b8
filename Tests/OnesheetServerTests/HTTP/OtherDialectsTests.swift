import OnesheetAddress
import Logging
import NIOCore
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// Addresses of other image servers are equivalent to free transforms: the same key, bytes and limits.
final class OtherDialectsTests: ServerTestCase {
    private let all = "dialects: [thumbor, cloudflare, iiif, next]"

    func testThatADialectMayAskForSeveralTitlesOrForNone() async throws {
        // Given a dialect whose titles do not all come from the server, and a source that its last question finds
        var plugins = PluginList.standard
        plugins.dialects.append(AskingDialect.self)
        let server = try await server(
            sources: "sample: { type: sample }\nweb: { type: remote, allow: [\"https://a.example/\"] }",
            keys: "dialects: [asking]", plugins: plugins)
        let free = try await server.send("/i/unsafe/w:92/f:jpg/plain/sample://1")
        XCTAssertEqual(free.status, 200)
        for path in ["/asking/none/1", "/asking/one/1", "/asking/two/1"] {
            // Then its address shows the title that it has named
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text)")
            XCTAssertEqual(answer.body, free.body, path)
        }
    }

    func testAnAddressOfADialectThatIsNotConfiguredNamesIt() async throws {
        // Given a server with one dialect
        let server = try await server(keys: "dialects: [iiif]")
        // When addresses of others are asked for, then the error names the dialect
        for (path, name) in [
            ("/3/movie/550", "tmdb"), ("/3", "tmdb"), ("/some-key-1/imdb/poster-default/tt1.jpg", "rpdb"),
            ("/some-key-1/isValid", "rpdb"), ("/Items/1/Images/Primary", "jellyfin"), ("/thumbor/unsafe/60x90/a", "thumbor"),
        ] {
            assertProblem(try await server.send(path), 404, "no dialect “\(name)”, which is for")
        }
        // And others do not
        for path in ["/nothing", "/3movie", "/iiif/3/sample%3A%2F%2Fnone/info.json"] {
            let answer = try await server.send(path)
            XCTAssertFalse(answer.text.contains("no dialect"), answer.text)
        }
    }

    /// An address of another dialect, and the equivalent free transform.
    static let pairs: [(other: String, options: String)] = [
        ("/thumbor/unsafe/60x90/filters:format(png)/sample%3A%2F%2F1", "rs:fill:60:90:1/f:png"),
        ("/thumbor/unsafe/-60x90/left/top/filters:format(png)/sample://1", "rs:fill:60:90:1/fl:1:0/g:noea/f:png"),
        ("/thumbor/unsafe/60x-90/right/bottom/filters:format(jpeg)/sample://1", "rs:fill:60:90:1/fl:0:1/g:noea/f:jpg"),
        ("/thumbor/unsafe/60x60/smart/filters:format(jpeg):quality(50)/sample://1", "rs:fill:60:60:1/g:sm/q:50/f:jpg"),
        ("/thumbor/unsafe/60x/left/filters:no_upscale():format(jpg)/sample://1", "w:60/f:jpg"),
        ("/thumbor/unsafe/fit-in/92x0/filters:format(jpg):strip_exif()/sample://1?x=1", "w:92/f:jpg"),
        ("/thumbor/unsafe/fit-in/90x90/filters:fill(ff0000):format(png)/sample://1", "w:90/h:90/ex:1/bg:ff0000/f:png"),
        ("/thumbor/unsafe/10x20:60x70/filters:format(png):blur(9,2)/sample://1", "c:50:50:nowe:10:20/bl:2/f:png"),
        ("/thumbor/unsafe/sample://1", "original"),
        ("/thumbor/unsafe/full-fit-in/60x60/filters:format(png)/sample://1", "rs:cover:60:60/f:png"),
        ("/thumbor/unsafe/60x90/filters:rotate(90):grayscale():format(png)/sample://1", "rot:270/rs:fill:90:60:1/gray:1/f:png"),
        ("/thumbor/unsafe/60x90/filters:focal(100x0:200x100):format(jpg)/sample://1", "rs:fill:60:90:1/g:pt:150:50/f:jpg"),
        ("/thumbor/unsafe/trim:9/fit-in/60x90/filters:format(png)/sample://1", "t:9/w:60/h:90/f:png"),
        ("/cdn-cgi/image/w=60,q=low,compression=fast,f=auto/sample://1", "w:60/q:50/f:jpg"),
        ("/cdn-cgi/image/width=92,format=jpeg/sample://1", "w:92/f:jpg"),
        ("/cdn-cgi/image/w=92,f=auto/sample%3A%2F%2F1", "w:92/f:jpg"),
        ("/cdn-cgi/image/w=60,h=90,fit=cover,gravity=0.5x0.25,f=png/sample://1", "rs:fill:60:90:1/g:fp:0.5:0.25/f:png"),
        ("/cdn-cgi/image/w=30,h=45,dpr=2,fit=pad,background=%23ff0000,f=png/sample://1", "w:60/h:90/el:1/ex:1/bg:ff0000/f:png"),
        ("/cdn-cgi/image/w=60,background=rgb(255%2C0%2C0),q=50,f=jpeg/sample://1", "w:60/bg:ff0000/q:50/f:jpg"),
        ("/cdn-cgi/image/h=60,rotate=90,flip=h,sharpen=1,metadata=none,f=png/sample://1", "h:60/rot:90/fl:0:1/sh:1/f:png"),
        ("/cdn-cgi/image/w=60,h=60,fit=aspect-crop,gravity=auto,f=png/sample://1", "rs:fill-down:60:60/g:sm/f:png"),
        ("/cdn-cgi/image/w=60,h=60,fit=squeeze,f=png,anim=false/sample://1", "rs:force:60:60:1/f:png"),
        ("/iiif/3/sample%3A%2F%2F1/full/92,/0/default.jpg", "w:92/f:jpg"),
        ("/iiif/3/sample:%2F%2F1/full/,90/0/color.png", "h:90/f:png"),
        ("/iiif/3/sample:%2F%2F1/full/60,60/0/default.jpg", "rs:force:60:60/f:jpg"),
        ("/iiif/3/sample:%2F%2F1/full/!60,60/0/default.jpg", "rs:fit:60:60/f:jpg"),
        ("/iiif/3/sample:%2F%2F1/square/60%2C/0/default.jpg", "square:1/w:60/f:jpg"),
        ("/iiif/3/sample:%2F%2F1/square/60,50/0/default.jpg", "square:1/rs:force:60:50/f:jpg"),
        ("/iiif/3/sample:%2F%2F1/pct:10,20,50,90/60,/0/default.png", "c:0.5:0.8:nowe:0.1:0.2/w:60/f:png"),
        ("/iiif/3/sample:%2F%2F1/full/pct:10/0/default.png", "z:0.1/f:png"),
        ("/iiif/3/sample:%2F%2F1/full/60,/90/gray.png", "rot:90/h:60/gray:1/f:png"),
        ("/iiif/3/sample:%2F%2F1/full/60,/!90/bitonal.png", "rot:270/fl:1:0/h:60/bitonal:1/f:png"),
        ("/iiif/3/sample:%2F%2F1/10,20,50,60/max/0/default.png", "c:50:60:nowe:10:20/f:png"),
        ("/iiif/3/sample:%2F%2F1/10,20,50,60/25,/0/default.png", "c:50:60:nowe:10:20/w:25/f:png"),
        ("/_next/image?url=sample%3A%2F%2F1&w=96&q=75", "w:96/q:75/f:jpg"),
        ("/_next/image?dpl=x&q=80&w=92&url=sample://1", "w:92/f:jpg"),
    ]

    func testThatEachAddressHasTheKeyOfTheFreeTransform() async throws {
        // Given a server with all dialects
        let context = try context(all)
        addTeardownBlock { try await context.shutdown() }
        let images = context.images
        let own = FreeImageRoute(images: images)
        let others = context.explainer.routes.compactMap { $0 as? DialectRoute }
        for (path, options) in Self.pairs where options != "original" {
            // When both addresses are parsed
            let dialect = try XCTUnwrap(others.first { path.hasPrefix($0.prefix) }, path)
            let other = try XCTUnwrap(try dialect.address(path.dropFirst(dialect.prefix.count)))
            let free = try XCTUnwrap(try own.address("unsafe/\(options)/plain/sample://1"))
            // Then they give one variant
            let key = other.request(in: other.negotiates ? .jpeg : nil).key
            XCTAssertEqual(key, free.request(in: nil).key, "\(path): \(other.transform.canonicalText)")
        }
    }

    func testThatEachAddressIsAnsweredWithTheBytesOfTheFreeTransform() async throws {
        // Given a server with all dialects
        let server = try await server(keys: all)
        for (path, options) in Self.pairs {
            // When a picture is requested as a free transform, and then in a dialect, twice
            let free = try await server.send(
                options == "original" ? "/t/p/original/sample/1" : "/i/unsafe/\(options)/plain/sample://1")
            for _ in 0..<2 {
                let other = try await server.send(path, fields: [("Accept", "image/jpeg")])
                // Then the second response is equal, from the cache
                XCTAssertEqual(other.status, 200, "\(path) \(other.text.prefix(300))")
                XCTAssertEqual(other.body, free.body, path)
                XCTAssertEqual(other.field("ETag"), free.field("ETag"), path)
                XCTAssertTrue(other.field("Cache-Status")?.hasPrefix("onesheet; hit") ?? false, path)
            }
        }
    }

    func testThatTheFormatIsNegotiatedWhereTheDialectSaysSo() async throws {
        let server = try await server(keys: all)
        for path in ["/_next/image?url=sample://1&w=96&q=75", "/cdn-cgi/image/w=60,f=auto/sample://1"] {
            let answer = try await server.send(path, fields: [("Accept", "image/png")])
            XCTAssertEqual(answer.field("Content-Type"), "image/png", path)
            XCTAssertEqual(answer.field("Vary"), "Accept", path)
        }
    }

    func testThatWhatCannotBeDoneIsRefusedByName() async throws {
        // Given a server with a small limit of pixels
        let server = try await server(keys: all + "\nlimits: { outputPixels: 10000 }")
        let table: [(String, Int, String)] = [
            ("/thumbor/unsafe", 400, "/thumbor/{signature}/"),
            ("/thumbor/unsafe/meta/60x90/sample://1", 400, "“meta” is not supported"),
            ("/thumbor/unsafe/trim:bottom-right/sample://1", 400, "“trim:bottom-right”"),
            ("/thumbor/unsafe/origx90/sample://1", 400, "orig"),
            ("/thumbor/unsafe/1x2x3/sample://1", 400, "1x2x3"), ("/thumbor/unsafe/99999x1/sample://1", 400, "99999"),
            ("/thumbor/unsafe/9x9:9x9/sample://1", 400, "9x9:9x9"),
            ("/thumbor/unsafe/filters:qualty(80)/sample://1", 400, "unknown filter “qualty”; did you mean “quality”?"),
            ("/thumbor/unsafe/filters:round_corner(9)/sample://1", 400, "round_corner"),
            ("/thumbor/unsafe/filters:quality(101)/sample://1", 400, "101"),
            ("/thumbor/unsafe/filters:quality()/sample://1", 400, "option “quality”: “” needs 1 to 1 arguments"),
            ("/thumbor/unsafe/filters:quality(80)", 400, "do not end"),
            ("/thumbor/unsafe/filters:quality/sample://1", 400, "filters"),
            ("/thumbor/unsafe/filters:format(bmp)/sample://1", 400, "bmp"),
            ("/thumbor/unsafe/smrt/sample://1", 400, "“smrt/sample://1” is not a source URL"),
            ("/thumbor/unsafe/30000x30000/filters:format(jpg)/sample://1", 400, "at most 10000"),
            ("/thumbor/unsafe/5000x5000:5001x5001/filters:format(jpg)/sample://1", 400, "outside the picture"),
            ("/thumbor/unsafe/60x90/sampel://1", 404, "did you mean “sample”?"),
            ("/thumbor/unsafe/60x90/https://example.com/a.jpg", 403, "no remote source allows"),
            ("/thumbor/wrong/60x90/sample://1", 403, "signature"),
            ("/cdn-cgi/image/", 400, "/cdn-cgi/image/{options}/{url}"), ("/cdn-cgi/image//sample://1", 400, "width=300"),
            ("/cdn-cgi/image/widht=1/sample://1", 400, "did you mean “width”?"), ("/cdn-cgi/image/w=auto/sample://1", 400, "auto"),
            ("/cdn-cgi/image/w=/sample://1", 400, "“w=”"), ("/cdn-cgi/image/fit=fill/sample://1", 400, "fill"),
            ("/cdn-cgi/image/gravity=face/sample://1", 400, "face"), ("/cdn-cgi/image/gravity=2x1/sample://1", 400, "“2”"),
            ("/cdn-cgi/image/trim=auto/sample://1", 400, "needs border"),
            ("/cdn-cgi/image/background=rde/sample://1", 400, "“rde”"), ("/cdn-cgi/image/f=json/sample://1", 400, "json"),
            ("/cdn-cgi/image/rotate=45/sample://1", 400, "45"), ("/cdn-cgi/image/w=1%2fh:2/sample://1", 400, "1/h"),
            ("/cdn-cgi/image/w=60/uploads/a.jpg", 400, "“uploads/a.jpg” is not a source URL"),
            ("/cdn-cgi/image/w=60/http://169.254.169.254/a", 403, "no remote source allows"),
            ("/cdn-cgi/image/w=30000,h=30000,fit=squeeze,f=jpeg/sample://1", 400, "at most 10000"),
            ("/iiif/3/sample:%2F%2F1/full/max/0", 400, "/iiif/3/{identifier}/{region}"),
            ("/iiif/3/sample://1/full/max/0/default.jpg", 404, "there is nothing at /iiif/3/sample://1"),
            ("/iiif/3/1/full/max/0/default.jpg", 404, "there is nothing at /iiif/3/1"),
            ("/iiif/3/1/info.json", 404, "there is nothing"),
            ("/iiif/3/sampel:%2F%2F1/full/max/0/default.jpg", 404, "did you mean “sample”?"),
            ("/iiif/3/sample:%2F%2F1/pct:100,1,9,9/max/0/default.jpg", 400, "“pct:100,1,9,9”"),
            ("/iiif/3/sample:%2F%2F1/1,1,0,9/max/0/default.jpg", 400, "“1,1,0,9”"),
            ("/iiif/3/sample:%2F%2F1/9999,0,9,9/max/0/default.jpg", 400, "outside the picture"),
            ("/iiif/3/sample:%2F%2F1/full/%5E92,/0/default.jpg", 400, "“^92,”"),
            ("/iiif/3/sample:%2F%2F1/full/pct:101/0/default.jpg", 400, "“pct:101”"),
            ("/iiif/3/sample:%2F%2F1/full/0,/0/default.jpg", 400, "“0,”"),
            ("/iiif/3/sample:%2F%2F1/0,0,50,60/51,/0/default.jpg", 400, "“51” is larger than the region"),
            ("/iiif/3/sample:%2F%2F1/0,0,50,60/51,/0/default.jpg", 400, "“51” is larger than the region"),
            ("/iiif/3/sample:%2F%2F1/full/92,/45/default.jpg", 400, "“45”"),
            ("/iiif/3/sample:%2F%2F1/full/92,/0/grey.jpg", 400, "grey"),
            ("/iiif/3/sample:%2F%2F1/full/92,/0/default.tif", 400, "tif"),
            ("/iiif/3/sample:%2F%2F1/full/200,/0/default.jpg", 400, "at most 10000"),
            ("/iiif/3/https:%2F%2Fexample.com%2Fa.jpg/info.json", 403, "no remote source allows"),
            ("/_next/image", 400, "query"), ("/_next/image?url=sample://1&w=97&q=75", 400, "option “w”: “97” needs one of 16, 32,"),
            ("/_next/image?url=sample://1&w=96", 400, "“q”"), ("/_next/image?w=96&q=75", 400, "“url”"),
            ("/_next/image?url=sample://1&w=96&w=128&q=75", 400, "“w”"), ("/_next/image?url=sample://1&w=96&q=101", 400, "101"),
            ("/_next/image?url=%2Fposter.jpg&w=96&q=75", 400, "/poster.jpg"), ("/_next/image?url=%zz&w=96&q=75", 400, "%zz"),
            ("/_next/image?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=96&q=75", 403, "no remote source allows"),
            ("/_next/image?url=sample://1&w=256&q=75", 400, "at most 10000"), ("/_next/imagery", 404, "/_next/imagery"),
        ]
        for (path, status, words) in table {
            let answer = try await server.send(path)
            assertProblem(answer, status, words, context: path)
        }
    }

    func testThatAURLOfAnOriginKeepsItsEscapesAndItsQuery() async throws {
        // Given an origin whose pictures have names and queries
        let picture = try Picture.jpeg()
        let origin = try await origin { target, _ in
            target == "/a%20b.jpg?v=2" ? .answer(type: "image/jpeg", body: picture) : .answer(status: 404)
        }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }", keys: all)
        let place = "\(origin.url)/a%20b.jpg?v=2"
        let escaped = PercentEncoding.encode(place)
        for path in [
            "/thumbor/unsafe/60x90/\(place)", "/thumbor/unsafe/60x90/\(escaped)", "/cdn-cgi/image/w=60/\(place)",
            "/cdn-cgi/image/w=60/\(escaped)", "/iiif/3/\(escaped)/full/60,/0/default.jpg", "/_next/image?url=\(escaped)&w=96&q=75",
        ] {
            // When each is requested in each dialect, plain and escaped, then it is found
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(300))")
        }
        XCTAssertEqual(origin.requests(), 1)
    }

    func testThatAnUnknownDialectIsToldWithTheNearestOne() throws {
        XCTAssertThrowsError(try context("dialects: [next, thumbr]")) { error in
            XCTAssertEqual("\(error)", "dialects.[1]: unknown dialect “thumbr”; did you mean “thumbor”?")
        }
    }

    func testThatADialectThatIsOffIsNotThere() async throws {
        let server = try await server(keys: "dialects: [next]")
        for path in ["/thumbor/unsafe/60x90/sample://1", "/cdn-cgi/image/w=60/sample://1", "/iiif/3/sample:%2F%2F1/info.json"] {
            let answer = try await server.send(path)
            assertProblem(answer, 404, path.prefix(8).description)
        }
        let own = try await self.server().send("/_next/image?url=sample://1&w=96&q=75")
        assertProblem(own, 404, "/_next/image")
    }

    func testThatWhereSignaturesAreNeededNothingUnsignedIsMade() async throws {
        // Given a server with a key
        let server = try await server(
            keys: all + "\nsigning: { keys: [{ key: \"6b6579\", salt: \"00\" }, { key: \"aa\", salt: \"01\" }] }")
        for (path, _) in Self.pairs {
            // When an unsigned address is requested, then it is refused
            let answer = try await server.send(path)
            assertProblem(answer, 403, path.hasPrefix("/thumbor") ? "signature" : "signing.unsafe", context: path)
        }
        // And an address that thumbor's clients signed with the key is accepted
        let signed = try await server.send("/thumbor/wLM_jX-2D7p_z-Yqyw5zcy1Vlyo=/60x90/sample://1")
        XCTAssertEqual(signed.status, 200, signed.text)
        let other = try await server.send("/thumbor/wLM_jX-2D7p_z-Yqyw5zcy1Vlyo=/60x91/sample://1")
        assertProblem(other, 403, "signature")
    }

    func testThatThumborsDocumentedSignatureIsAccepted() throws {
        // Given the key in thumbor's documentation for libraries
        var configuration = SigningConfiguration()
        configuration.keys = [.init(key: Array("my-security-key".utf8), salt: [])]
        let signature = Signature(configuration, needsKey: true)
        let path = "300x200/my.server.com/some/path/to/image.jpg"
        // Then its example is valid, and others are not
        XCTAssertNoThrow(try signature.check(thumbor: "8ammJH8D-7tXy6kU3lTvoXlhu4o=", of: path))
        for (claimed, path) in [
            ("8ammJH8D-7tXy6kU3lTvoXlhu4o=", path + "x"), ("9ammJH8D-7tXy6kU3lTvoXlhu4o=", path), ("8ammJH8D", path), ("", path),
            ("unsafe", path),
        ] {
            XCTAssertThrowsError(try signature.check(thumbor: claimed, of: path), claimed)
        }
    }

    func testThatWithPresetsOnlyEachDialectMakesThoseOnly() async throws {
        // Given a server with two presets
        let server = try await server(
            keys: all + "\npresetsOnly: true\npresets: { card: \"rs:fill:60:90:1\", wide: \"w:96/q:75\" }")
        for (path, status) in [
            ("/thumbor/unsafe/60x90/filters:format(png)/sample://1", 200), ("/thumbor/unsafe/60x91/sample://1", 403),
            ("/thumbor/unsafe/sample://1", 200),
            ("/cdn-cgi/image/w=60,h=90,fit=cover/sample://1", 200), ("/cdn-cgi/image/w=60,h=90/sample://1", 403),
            ("/iiif/3/sample:%2F%2F1/full/max/0/default.jpg", 200), ("/iiif/3/sample:%2F%2F1/full/92,/0/default.jpg", 403),
            ("/_next/image?url=sample://1&w=96&q=75", 200), ("/_next/image?url=sample://1&w=96&q=76", 403),
        ] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, status, "\(path) \(answer.text.prefix(200))")
            if status == 403 { assertProblem(answer, 403, "presets: card, wide", context: path) }
        }
    }

    private func context(_ keys: String) throws -> ServerContext {
        let yaml = "cache: { disk: { path: \"\(folder())\" } }\n\(keys)\nsources: { sample: { type: sample } }"
        return try ServerContext(
            try ConfigurationFile(environment: [:]).parse(yaml), .standard,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}

/// Shows a title of `sample`, after no question to the server, one about it, or two of which the last is about another source.
private struct AskingDialect: Dialect {
    static let name = "asking"
    static let prefix = "/asking/"

    init(_ configuration: NoConfiguration) {}

    func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        let parts = address.split(separator: "/")
        var title = TitleReference(source: "sample", id: String(parts[1]))
        if parts[0] != "none" { title = try server.title(title.description) }
        if parts[0] == "two" { _ = try server.title("https://a.example/1.jpg") }
        return DialectImage(title: title, options: ["w:92", "f:jpg"])
    }
}
