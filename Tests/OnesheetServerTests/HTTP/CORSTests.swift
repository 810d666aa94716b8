import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Cross-origin access to responses.
final class CORSTests: ServerTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"
    private let app = "https://app.example.com"

    func testThatNobodyIsAllowedWhereNothingIsSaid() async throws {
        let server = try await server()
        let answer = try await server.send(poster, fields: [("Origin", app)])
        XCTAssertNil(answer.field("Access-Control-Allow-Origin"))
        XCTAssertNil(answer.field("Vary"))
    }

    func testThatAPageThatIsNamedMayReadEveryAnswer() async throws {
        // Given a server with the origin of a page
        let server = try await server(keys: "cors: { origins: [\"\(app)\", \"http://localhost:3000\"] }")
        let tag = try await server.send(poster).field("ETag") ?? ""
        for (path, fields, status) in [
            (poster, [], 200), (poster, [("If-None-Match", tag)], 304), ("/sources", [], 200), ("/t/p/w1/sample/1", [], 400),
            ("/nowhere", [], 404),
        ] {
            // When a page of that origin sends a request, one of another origin, and a client without one
            let named = try await server.send(path, fields: fields + [("Origin", app)])
            let other = try await server.send(path, fields: fields + [("Origin", app + ".evil.example")])
            let plain = try await server.send(path, fields: fields)
            // Then the first may read the response
            XCTAssertEqual(named.status, status)
            XCTAssertEqual(named.field("Access-Control-Allow-Origin"), app, path)
            XCTAssertTrue(named.field("Access-Control-Expose-Headers")?.contains("Onesheet-ThumbHash") ?? false)
            // And caches learn that responses differ
            for answer in [other, plain] { XCTAssertNil(answer.field("Access-Control-Allow-Origin"), path) }
            for answer in [named, other, plain] { XCTAssertTrue(answer.field("Vary")?.hasSuffix("Origin") ?? false, path) }
        }
    }

    func testThatWithAStarAnybodyMay() async throws {
        let server = try await server(keys: "cors: { origins: [\"*\"] }")
        for fields in [[("Origin", app)], []] {
            let answer = try await server.send(poster, fields: fields)
            XCTAssertEqual(answer.field("Access-Control-Allow-Origin"), "*")
            XCTAssertNil(answer.field("Vary"))
        }
    }

    func testThatABrowserIsToldWhatItMaySend() async throws {
        let server = try await server(keys: "cors: { origins: [\"\(app)\"] }")
        let asked = [("Access-Control-Request-Method", "PUT"), ("Origin", app)]
        let path = "/sources/sample/titles/1/poster"
        // When a browser sends a preflight, when a tool sends OPTIONS, and when another page sends a preflight
        let browser = try await server.send(path, method: "OPTIONS", fields: asked)
        let tool = try await server.send(path, method: "OPTIONS")
        let stranger = try await server.send(path, method: "OPTIONS", fields: [asked[0], ("Origin", "https://x.example")])
        // Then the browser gets permission, and the other page does not
        XCTAssertEqual(browser.status, 204)
        XCTAssertEqual(browser.field("Access-Control-Allow-Origin"), app)
        XCTAssertTrue(browser.field("Access-Control-Allow-Methods")?.contains("PUT") ?? false)
        XCTAssertTrue(browser.field("Access-Control-Allow-Headers")?.contains("Authorization") ?? false)
        XCTAssertNil(tool.field("Access-Control-Allow-Methods"))
        XCTAssertNil(stranger.field("Access-Control-Allow-Origin"))
    }

    func testThatBothWaysSayTheSame() async throws {
        for origins in ["[\"\(app)\"]", "[\"*\"]"] {
            // Given two servers with the same pictures in memory
            let keys = "cors: { origins: \(origins) }"
            let ways = try await twoWays(keys: keys, warm: [poster, "/t/p/w92/sample/2"])
            let tag = try await ways.ordinary.send(poster).field("ETag") ?? ""
            // When they get requests, then their responses are equal
            for target in [poster, "/t/p/w92/sample/2"] {
                for fields in ["", "If-None-Match: \(tag)\r\n", "Origin: \(app)\r\n", "Origin: x\r\n"] {
                    try await ways.assertSame([Array("GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n".utf8)], origins)
                }
            }
        }
    }
}
