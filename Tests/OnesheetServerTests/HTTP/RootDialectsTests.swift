import Foundation
import NIOCore
import OnesheetAddress
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Addresses of imgproxy and thumbor at the root, as they are there.
final class RootDialectsTests: ServerTestCase {
    private let key = "0102030405060708"
    private let both = "dialects: [{ imgproxy: / }, { thumbor: / }]"

    func testSignedAddressesWorkUnchangedAtTheRoot() async throws {
        // Given a server with keys of both
        let keys = "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }], thumborKeys: [MY_SECURE_KEY] }\n\(both)"
        let server = try await server(keys: keys)
        let bytes = try XCTUnwrap([UInt8](hex: key))
        let signature = Signature(keys: [.init(key: bytes, salt: bytes)])
        let thumbors = Signature(keys: [], thumborKeys: [Array("MY_SECURE_KEY".utf8)])
        // When addresses are asked for as these servers have them, and as this one does
        let path = "/w:60/plain/sample://1@jpg"
        let own = try XCTUnwrap(signature.sign(path)) + path
        let thumbor = "60x90/filters:format(png)/sample%3A%2F%2F1"
        let other = try XCTUnwrap(thumbors.sign(thumbor: thumbor))
        let free = try await server.send("/i/\(own)")
        XCTAssertEqual(free.status, 200, free.text)
        // Then both are the same image
        for _ in 0..<2 {
            let root = try await server.send("/\(own)")
            XCTAssertEqual(root.status, 200, root.text)
            XCTAssertEqual(root.body, free.body)
            XCTAssertEqual(root.field("Content-Type"), "image/jpeg")
        }
        // And so it is with the mark at the end of thumbor's signatures
        for signature in [other, other + "="] {
            let root = try await server.send("/\(signature)/\(thumbor)")
            XCTAssertEqual(root.status, 200, root.text)
            XCTAssertEqual(root.field("Content-Type"), "image/png")
        }
        // And other signatures are refused, and other paths are what they were
        assertProblem(try await server.send("/A\(own.dropFirst())"), 403, "signature")
        assertProblem(try await server.send("/\(other)/61x90/sample%3A%2F%2F1"), 403, "signature")
        for path in ["/sources", "/", "/health", "/metrics"] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, path)
        }
        assertProblem(try await server.send("/nowhere/w:60/plain/sample://1"), 404, "/nowhere/")
        let metrics = try await server.send("/metrics").text
        XCTAssertTrue(metrics.contains("\"/{signature}/\""), metrics)
    }

    func testUnsignedAddressIsThatOfItsForm() async throws {
        let forms = [
            "/unsafe/w:60/plain/sample://1@jpg": 200, "/unsafe/plain/sample://1": 200, "/unsafe/w:60/c2FtcGxlOi8vMQ.jpg": 200,
            "/unsafe/c2FtcGxlOi8vMQ": 200, "/_/w:60/plain/sample://1@jpg": 200, "/unsafe/60x90/sample://1": 200,
            "/unsafe/sample://1": 200, "/unsafe/fit-in/60x90/filters:format(png)/sample%3A%2F%2F1": 200,
            "/unsafe/60x90/nobody": 400, "/unsafe/wh:60/plain/sample://1": 400,
        ]
        for (dialects, statuses) in [
            (both, forms), ("dialects: [{ thumbor: / }, { imgproxy: / }]", forms),
            ("dialects: [{ imgproxy: / }]", ["/unsafe/60x90/sample://1": 400]),
            ("dialects: [thumbor]", ["/unsafe/60x90/sample://1": 404, "/thumbor/unsafe/60x90/sample://1": 200]),
        ] {
            let server = try await server(keys: dialects)
            for (path, status) in statuses {
                let answer = try await server.send(path)
                XCTAssertEqual(answer.status, status, "\(dialects) \(path) \(answer.text.prefix(300))")
            }
        }
    }

    func testRelativeSourceURLsBeginWithTheBase() async throws {
        // Given an origin, and a folder as the one of imgproxy's local files
        let body = try Picture.jpeg()
        let origin = try await origin { target, _ in
            target == "/art/noir/a.jpg?v=1" ? .answer(type: "image/jpeg", body: body) : .answer(status: 404)
        }
        let files = folder()
        try FileManager.default.createDirectory(atPath: files + "/noir", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: files + "/v1.2", withIntermediateDirectories: true)
        for file in ["noir/a.jpg", "v1.2/a.jpg"] { try Data(body.readableBytesView).write(to: URL(filePath: "\(files)/\(file)")) }
        let server = try await server(
            sources: "\(web(origin))\nlocal: { type: folder, path: \"\(files)\" }",
            keys: """
                dialects:
                  - { imgproxy: { at: /, baseURL: "\(origin.url)/art/" } }
                  - { thumbor: { baseURL: "local:///" } }
                """)
        let relative = Data("noir/a.jpg?v=1".utf8).base64EncodedString().replacing("=", with: "")
        for path in [
            // When a source URL has no scheme
            "/unsafe/w:60/plain/noir/a.jpg%3Fv=1@jpg", "/unsafe/w:60/\(relative).jpg", "/thumbor/unsafe/60x90/noir/a.jpg",
            "/thumbor/unsafe/60x90/noir%2Fa.jpg", "/thumbor/unsafe/60x90/v1.2/a.jpg", "/thumbor/unsafe/60x90/v1.2%2Fa.jpg",
            // Or has one, also without a host
            "/unsafe/w:60/plain/\(origin.url)/art/noir/a.jpg%3Fv=1@jpg", "/unsafe/w:60/plain/local:///noir/a.jpg@jpg",
            "/thumbor/unsafe/60x90/local%3A%2F%2Fnoir%2Fa",
        ] {
            // Then its image is found
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(300))")
        }
        // And the server's own addresses have no base
        assertProblem(try await server.send("/i/unsafe/w:60/plain/noir/a.jpg@jpg"), 400, "not a source URL")
    }

    func testPlacesThatCannotBeAreRefused() async throws {
        for (dialects, message) in [
            ("[imgproxy]", "dialects.[0]: imgproxy's addresses are at /i/ without a dialect; { imgproxy: / } is for the root"),
            ("[thumbor, { cloudflare: / }]", "dialects.[1]: cloudflare cannot be at the root"),
            ("[{ thumbor: /x }]", "dialects.[0].thumbor: “/x” is not /"),
            ("[{ thumbor: { at: /x } }]", "dialects.[0].thumbor.at: “/x” is not /"),
            ("[{ thumbor: { baseUrl: x } }]", "dialects.[0].thumbor: unknown key “baseUrl”; did you mean “baseURL”?"),
            ("[{ thumbor: { baseURL: images.example } }]", "dialects.[0].thumbor.baseURL: “images.example” is not the beginning"),
            ("[{ thumbor: /, iiif: / }]", "dialects.[0]: needs the name of a dialect"),
            ("[thumbor, iiif, thumbor]", "dialects.[2]: “thumbor” is there already"),
            ("[{ imgproxy: / }, { imgproxy: { at: /, baseURL: \"a:///\" } }]", "dialects.[1]: “imgproxy” is there already"),
            ("[{ imgprxy: / }]", "dialects.[0]: unknown dialect “imgprxy”; did you mean “imgproxy”?"),
        ] {
            do {
                _ = try await server(keys: "dialects: \(dialects)")
                XCTFail("it started with \(dialects)")
            } catch {
                XCTAssertTrue("\(error)".contains(message), "\(error)")
            }
        }
    }

    func testLogsHideTheQueriesOfURLsAtTheRoot() throws {
        // Given a URL with a key, in base64url, and addresses with it
        let encoded = Data("https://a.example/1.jpg?key=secret".utf8).base64EncodedString()
        let url = encoded.replacing("/", with: "_").replacing("=", with: "")
        let signature = String(repeating: "aB3-_", count: 8) + "abc"
        for address in ["/\(signature)/w:60/\(url).jpg", "/unsafe/w:60/\(url)"] {
            // When they are logged
            for target in [address, "/?view=explain&address=\(address)"] {
                let shown = AccessLine.visible(target: target)
                // Then the URL is not
                XCTAssertFalse(shown.contains(url), shown)
            }
            XCTAssertFalse(shown(request: address).contains(url))
        }
    }
}
