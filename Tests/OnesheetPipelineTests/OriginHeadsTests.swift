import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Heads of responses that browsers read and our parser alone would refuse or change.
final class OriginHeadsTests: TransportTestCase {
    func testEqualFieldsAreOne() async throws {
        for fields in [
            "Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2, 2", "content-length: 2\r\nContent-Length:2 ",
            "Content-Length: 2\r\nETag: \"a\"\r\netag: \"a\"", "Content-Length: 2\nETag: \"a\"\nETag: \"a\"",
        ] {
            let answer = try await answer(to: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok")
            XCTAssertEqual(String(buffer: answer.body), "ok", fields)
            XCTAssertEqual(answer.headers["content-length"], "2")
            if fields.contains("ETag") { XCTAssertEqual(answer.headers["etag"], "\"a\"") }
        }
        let chunked = "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"
        let answer = try await answer(to: "HTTP/1.1 200 OK\r\n\(chunked)\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        XCTAssertEqual(String(buffer: answer.body), "ok")
        // And different ones stay
        let list = try await self.answer(to: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nVary: a\r\nVary: b\r\nVary: a\r\n\r\n")
        XCTAssertEqual(list.headers["vary"], "a, b")
    }

    func testOldFormsOfLinesAreRead() async throws {
        // Given lines that end without a carriage return, and values in several lines
        let plain = try await answer(to: "HTTP/1.0 200 OK\nContent-Length: 2\nX: y\n\nok")
        let folded = try await answer(to: "HTTP/1.1 200 OK\r\nX: one\r\n two \r\n\t three\r\nContent-Length:\r\n 2\r\n\r\nok")
        // Then they are fields as others
        XCTAssertEqual([plain, folded].map { String(buffer: $0.body) }, ["ok", "ok"])
        XCTAssertEqual([plain, folded].map { $0.headers["x"] }, ["y", "one two three"])
        // And one that continues nothing is no field
        let origin = try await origin { _, _ in .raw(ByteBuffer(string: "HTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 2\r\n\r\nok"))
        }
        let error = await failure(of: origin.url + "/", loopback)
        XCTAssertEqual(error, .failed(url: origin.url + "/", reason: "its answer is not valid HTTP"))
    }

    func testARedirectIsFollowedByteForByte() async throws {
        // Given locations in Latin-1 and in UTF-8, once and twice
        for (location, target) in [
            ([UInt8]("/caf".utf8) + [0xE9], "/caf%E9"), (Array("/café".utf8), "/caf%C3%A9"), ([0x2F, 0xFF, 0x41], "/%FFA"),
        ] {
            for count in [1, 2] {
                let origin = try await origin { path, _ in
                    guard path == "/" else { return .answer(body: ByteBuffer(string: path)) }
                    var head = ByteBuffer(string: "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n")
                    for _ in 0..<count { head.writeBytes(Array("LOCATION:  ".utf8) + location + Array("\r\n".utf8)) }
                    head.writeString("\r\n")
                    return .raw(head)
                }
                // When the redirect is followed
                let answer = try await transport().get(HTTPRequest(url: origin.url + "/"), under: loopback)
                // Then the origin is asked for the bytes that it named
                XCTAssertEqual(String(buffer: answer.body), target)
            }
        }
    }

    func testTwoTargetsAreNone() async throws {
        let head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /a\r\nLocation: /b\r\n\r\n"
        let origin = try await origin { _, _ in .raw(ByteBuffer(string: head)) }
        let error = await failure(of: origin.url + "/", loopback)
        XCTAssertEqual(error, .failed(url: origin.url + "/", reason: "it redirects to two targets"))
    }

    func testDotSegmentsOfATargetAreRemovedBeforeTheAllowListIsAsked() async throws {
        let origin = try await origin { path, _ in
            switch path {
            case "/p/a": .redirect(to: "../p/./x/../b")
            case "/p/out": .redirect(to: "../secret")
            case "/p/up": .redirect(to: "%2e%2e/secret")
            default: .answer(body: ByteBuffer(string: path))
            }
        }
        let allow = try XCTUnwrap(URLPrefix(origin.url + "/p/"))
        let policy = OriginPolicy(allow: [allow], networks: [.loopback])
        let answer = try await transport().get(HTTPRequest(url: origin.url + "/p/a"), under: policy)
        XCTAssertEqual(String(buffer: answer.body), "/p/b")
        for path in ["/p/out", "/p/up"] {
            let error = await failure(of: origin.url + path, policy)
            guard case .forbidden = error else { return XCTFail("\(path): \(String(describing: error))") }
        }
        XCTAssertEqual(origin.requests(for: "/secret"), 0)
    }

    func testInterimHeadsArriveBeforeTheLast() async throws {
        let interim = "HTTP/1.1 103 Early\r\nLink: </é>\r\n\r\n"
        let answer = try await answer(to: interim + interim + "HTTP/1.1 203 Fine\r\nContent-Length: 2\r\nX: é\r\n\r\n\u{FF}")
        XCTAssertTrue(answer.isSuccess)
        XCTAssertEqual(answer.headers["x"], "é")
        XCTAssertEqual(Array(answer.body.readableBytesView), [0xC3, 0xBF])
    }

    private func answer(to head: String) async throws -> HTTPAnswer {
        let origin = try await origin { _, _ in .raw(ByteBuffer(string: head)) }
        return try await transport().get(HTTPRequest(url: origin.url + "/"), under: loopback)
    }
}
