import NIOCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// HTTP/1.1 clients that send requests and do not read.
final class StalledClientsTests: ServerTestCase {
    func testThatConnectionsThatReadNothingHoldNoMoreThanThereIs() async throws {
        // Given pictures of 16 MiB each, and room for two of them
        let origin = try await bigPictures()
        let server = try await server(
            sources: web(origin) + "\nsample: { type: sample }",
            keys: "clients: { memory: 33MiB, idleTimeout: 1h, requestTimeout: 1h }", memory: "0")
        // When several clients request one each and read only its head
        var slow = 0
        let heads = try await stall(0..<6, server, origin) {
            // Then their memory stays within the limit, and short responses continue
            let held = try await Self.metric("onesheet_response_bytes_held", server)
            XCTAssertTrue((16 << 20...34 << 20).contains(held), "\(held)")
            slow = try await Self.metric("onesheet_clients_refused_total{reason=\"slow\"}", server)
            let answer = try await server.send("/t/p/w92/sample/1.jpg")
            XCTAssertEqual(answer.status, 200)
            let ready = try await server.send("/ready")
            XCTAssertEqual(ready.status, 200)
        }
        // And pictures were sent if there was room, or after a slow client was disconnected; the others were refused immediately
        let good = heads.count { $0.hasPrefix("HTTP/1.1 200 ") }
        XCTAssertGreaterThan(good, 0, "\(heads)")
        XCTAssertLessThanOrEqual(good - slow, 2, "\(heads)")
        let refused = heads.filter { $0.hasPrefix("HTTP/1.1 503 ") }
        XCTAssertEqual(refused.count, 6 - good)
        XCTAssertTrue(refused.allSatisfy { $0.contains("Retry-After: 1\r\n") }, "\(refused)")
    }

    func testThatTheSlowestMakesRoomForOthers() async throws {
        // Given room for one picture, and a client that reads nothing of it
        let origin = try await bigPictures()
        let server = try await server(
            sources: web(origin), keys: "clients: { memory: 16MiB, idleTimeout: 1h, requestTimeout: 1h }", memory: "0")
        _ = try await stall(0..<1, server, origin) {
            // When another client retries again and again
            var (status, tries) = (503, 0)
            while status == 503, tries < 100_000 {
                status = try await server.send("/i/unsafe/plain/\(origin.url)/other@jpg").status
                tries += 1
            }
            // Then it gets the room in the end
            XCTAssertEqual(status, 200)
            let dropped = try await Self.metric("onesheet_clients_refused_total{reason=\"slow\"}", server)
            XCTAssertGreaterThan(dropped, 0)
        }
    }

    func testThatPipelinedRequestsWaitUntilTheirAnswersAreRead() async throws {
        // Given a picture in memory, and one that needs the parser
        let server = try await server(keys: "clients: { idleTimeout: 1h, requestTimeout: 1h }")
        let poster = "/t/p/original/sample/1.jpg"
        for _ in 0..<2 { _ = try await server.send(poster) }
        for target in [poster, poster + "?x"] {
            let before = try PeakMemory.begin()
            try await OpenConnection.with(server.url, room: 64 << 10) { connection in
                // When a client sends ten thousand requests and reads nothing
                try await connection.send(String(repeating: "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n", count: 10_000))
                for _ in 0..<100 { _ = try await server.send("/health") }
                // Then only as many get responses as the system buffers, and others are served
                let answered = try await Self.metric("onesheet_requests_total{route=\"/t/p/\",status=\"2xx\"}", server)
                XCTAssertLessThan(answered, 2000)
            }
            XCTAssertLessThan(try PeakMemory.end() - before, 64 << 20, target)
        }
    }

    func testThatHandshakesThatAreNeverFinishedKeepNobodyOut() async throws {
        // Given a server with a long timeout, and many connections without a TLS handshake
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nclients: { requestTimeout: 1h, idleTimeout: 1h }")
        try await open(100, server.url) {
            // When another client connects
            try await RawHTTP2.with(server.url, certificate) { client in
                try await client.get("/health", on: 1)
                // Then it gets a response
                let answer = await client.next { $0.type == RawHTTP2.Kind.headers }
                XCTAssertTrue(answer?.isOK ?? false)
            }
        }
    }

    func testThatAnUpgradeIsNotHeard() async throws {
        let server = try await server()
        for upgrade in [
            "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nConnection: Upgrade, HTTP2-Settings",
            "Upgrade: websocket\r\nConnection: Upgrade",
        ] {
            let request = "GET /health HTTP/1.1\r\nHost: h\r\n\(upgrade)\r\n\r\n"
            let answer = String(decoding: try await RawConnection.exchange([Array(request.utf8)], with: server.url), as: UTF8.self)
            XCTAssertTrue(answer.hasPrefix("HTTP/1.1 200 "), answer)
        }
    }

    func testThatTheServerEndsWhileNobodyReads() async throws {
        // Given clients that read nothing, one that waits for a silent origin, and one that sends half a request
        let origin = try await bigPictures()
        let server = try await server(
            sources: web(origin),
            keys: """
                clients: { idleTimeout: 1h, requestTimeout: 1h }
                shutdown: { deadline: 10ms }
                limits: { originTimeout: 1h, originIdleTimeout: 1h }
                """, memory: "0")
        _ = try await stall(0..<3, server, origin) {
            try await OpenConnection.with(server.url) { hung in
                try await hung.send(
                    "GET /health HTTP/1.1\r\nHost: h\r\n\r\nGET /i/unsafe/plain/\(origin.url)/hang@jpg HTTP/1.1\r\nHost: h\r\n\r\n")
                _ = try await hung.read(until: "ok\n")
                try await OpenConnection.with(server.url) { half in
                    try await half.send("GET / HTTP/1.1\r\nHo")
                    // When the server is stopped
                    XCTAssertTrue(server.server.drain())
                    // Then it ends
                    try await server.end()
                }
            }
        }
    }

    /// An origin with pictures of 16 MiB, each at its own path, and one that never responds.
    private func bigPictures() async throws -> OriginServer {
        var picture = try Picture.jpeg()
        picture.writeRepeatingByte(0, count: 16 << 20 - picture.readableBytes)
        let body = picture
        return try await origin { path, _ in path == "/hang" ? .silence : .answer(type: "image/jpeg", body: body) }
    }

    /// Requests one picture after the other, each on its own connection, and reads only the heads.
    /// - Returns: the heads, when `body` has ended.
    private func stall(
        _ pictures: Range<Int>, _ server: RunningServer, _ origin: OriginServer, _ body: () async throws -> Void
    ) async throws -> [String] {
        guard let first = pictures.first else {
            try await body()
            return []
        }
        var heads: [String] = []
        try await OpenConnection.with(server.url, room: 64 << 10) { connection in
            try await connection.send("GET /i/unsafe/plain/\(origin.url)/\(first)@jpg HTTP/1.1\r\nHost: h\r\n\r\n")
            var head = ByteBuffer()
            while let bytes = try await connection.next() {
                head.writeImmutableBuffer(bytes)
                if head.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) != nil { break }
            }
            let text = String(decoding: head.readableBytesView.prefix(2000), as: UTF8.self)
            heads = [text.components(separatedBy: "\r\n\r\n")[0] + "\r\n"]
            heads += try await stall(pictures.dropFirst(), server, origin, body)
        }
        return heads
    }

    /// Keeps `count` silent connections open while `body` runs.
    private func open(_ count: Int, _ url: String, _ body: () async throws -> Void) async throws {
        guard count > 0 else { return try await body() }
        try await OpenConnection.with(url) { _ in try await open(count - 1, url, body) }
    }

    private static func metric(_ name: String, _ server: RunningServer) async throws -> Int {
        let text = try await server.send("/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return Int(try XCTUnwrap(line, name).dropFirst(name.count + 1)) ?? -1
    }
}
