import HTTPTypes
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Documents of a service that event loops send again.
final class KeptDocumentsTests: ServerTestCase {
    private let film = "/3/movie/550?api_key=theirs&language=de"
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testADocumentIsSentAgainByTheLoop() async throws {
        // Given a document that was sent, without its coding
        let server = try await server(try await service())
        let target = film
        XCTAssertNil(try early(target, of: server))
        let answer = try await server.send(target)
        XCTAssertEqual(answer.status, 200, answer.text)
        // Then the loop has it for that target and coding, with its head and its length
        XCTAssertEqual(try early(target, of: server), answer.text)
        XCTAssertEqual(try early(target, of: server, method: "HEAD"), "")
        XCTAssertNil(try early(target, "Accept-Encoding: gzip", of: server))
        XCTAssertNil(try early("/3/movie/550", of: server))
        // And a client that has it is told so, while another condition needs the router
        let tag = try XCTUnwrap(answer.field("ETag"))
        XCTAssertEqual(try early(target, "If-None-Match: \(tag)", of: server), "")
        XCTAssertNil(try early(target, "If-None-Match: \"other\"", of: server))
        // And it is counted with the others
        _ = try await server.send(target)
        let metrics = try await server.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_requests_total{route=\"/3/\",status=\"2xx\"} 4\n"), metrics)
    }

    func testBothWaysSendTheSame() async throws {
        // Given two servers that have sent a document in both codings, one without a fast path
        let (service, clock) = (try await service(), ManualClock())
        let ways = TwoWays(
            early: try await server(service, clock: clock.wallClock),
            ordinary: try await server(service, clock: clock.wallClock, hasFastPath: false))
        var tag = ""
        for way in ways.both {
            for fields in [[], [("Accept-Encoding", "br, gzip")]] {
                let answer = try await way.send(film, fields: fields)
                tag = try XCTUnwrap(answer.field("ETag"))
            }
        }
        // Then each request gets the same from both
        for fields in [
            [], ["Accept-Encoding: gzip"], ["Accept-Encoding: br, gzip"], ["Accept-Encoding: gzip;q=0"],
            ["Accept-Encoding: identity", "Accept: */*"], ["Authorization: Bearer theirs"], ["Origin: https://app.example"],
            ["If-None-Match: \(tag)", "Accept-Encoding: gzip"], ["If-None-Match: \(tag)"], ["If-None-Match: *"],
            ["If-Match: \"other\""],
            ["Range: bytes=0-3"],
            ["If-Modified-Since: Sat, 21 Nov 2099 00:00:00 GMT"],
        ] {
            for method in ["GET", "HEAD", "OPTIONS"] {
                let request = request(film, method: method, fields)
                try await ways.assertSame([request], "\(fields)")
                try await ways.assertSame([request + self.request(film, method: "GET", []) + request], "\(fields)")
            }
        }
        // When time passes, then both have the same dates and documents
        for seconds in [1, 3600, 86_400] {
            clock.advance(by: .seconds(seconds))
            for _ in 0..<2 { try await ways.assertSame([request(film, method: "GET", ["Accept-Encoding: gzip"])], "\(seconds)") }
        }
    }

    func testAStaleDocumentIsNotSentAgain() async throws {
        let clock = ManualClock()
        let server = try await server(try await service(), clock: clock.wallClock)
        _ = try await server.send(film)
        XCTAssertNotNil(try early(film, of: server))
        clock.advance(by: .seconds(3600))
        XCTAssertNil(try early(film, of: server))
    }

    func testAPurgedDocumentIsNotSentAgain() async throws {
        let server = try await server(try await service())
        _ = try await server.send(film)
        XCTAssertNotNil(try early(film, of: server))
        let purged = try await server.send("/cache/?tag=source:tmdb", method: "DELETE", fields: administrator)
        XCTAssertTrue((200..<300).contains(purged.status), purged.text)
        XCTAssertNil(try early(film, of: server))
        // And it is sent again once it is made again
        _ = try await server.send(film)
        XCTAssertNotNil(try early(film, of: server))
    }

    func testTheRouterSendsAKeptDocumentToo() async throws {
        // Given a document that was sent, and requests that are not the loop's
        let server = try await server(try await service())
        let first = try await server.send(film)
        let kept = try XCTUnwrap(server.server.responder.router.kept.document(at: film, to: [:]))
        for fields in [[("Origin", "https://app.example")], [("X-Other", "1")]] {
            let answer = try await server.send(film, fields: fields)
            XCTAssertEqual(answer.text, first.text)
            // Then it stays, and is not made again
            let still = server.server.responder.router.kept.document(at: film, to: [:])
            XCTAssertEqual(still?.bytes.storageID, kept.bytes.storageID)
        }
    }

    func testAnErrorIsNotSentAgain() async throws {
        let server = try await server(try await service())
        for path in ["/3/movie/404", "/3/account/1", "/3/authentication"] {
            _ = try await server.send(path)
            XCTAssertNil(try early(path, of: server), path)
        }
    }

    func testPrivateDocumentIsNotKept() async throws {
        // Given a server whose lists are the administrator's
        let server = try await server(try await service(), keys: "public: { lists: false }")
        let own = try await server.send(film, fields: administrator)
        XCTAssertEqual(own.status, 200, own.text)
        XCTAssertNil(try early(film, of: server))
        let strange = try await server.send(film)
        XCTAssertEqual(strange.status, 401)
    }

    func testALongDocumentIsNotSentAtOnceOnAnEncryptedConnection() async throws {
        let server = try await server(try await service(length: 100_000))
        _ = try await server.send(film)
        XCTAssertNotNil(try early(film, of: server, sendsFiles: true))
        XCTAssertNil(try early(film, of: server))
    }

    private func service(length: Int = 2000) async throws -> OriginServer {
        let film = "{\"id\":550,\"overview\":\"\(String(repeating: "film ", count: length / 5))\"}"
        return try await origin { target, _ in
            target.hasPrefix("/movie/550")
                ? .answer(type: "application/json", body: ByteBuffer(string: film)) : .answer(status: 404, type: "application/json")
        }
    }

    private func server(
        _ service: OriginServer, keys: String = "", clock: WallClock = .system, hasFastPath: Bool = true
    ) async throws -> RunningServer {
        try await server(
            sources: tmdb(service.url), keys: "dialects: [tmdb]\nadmin: { token: secret-for-tests }\n\(keys)", clock: clock,
            hasFastPath: hasFastPath)
    }
}
