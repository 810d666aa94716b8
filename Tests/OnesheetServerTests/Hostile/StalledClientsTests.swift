import Foundation
import NIOCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// HTTP/1.1 clients that send requests and do not read.
final class StalledClientsTests: ServerTestCase {
    func testThatConnectionsThatReadNothingHoldNoMoreThanThereIs() async throws {
        // Given pictures of 16 MiB each, and room for two of them that no slow client makes
        let origin = try await bigPictures()
        let server = try await server(
            sources: web(origin) + "\nsample: { type: sample }",
            keys: """
                clients: { memory: 33MiB, idleTimeout: 1h, requestTimeout: 1h }
                limits: { originTimeout: 1h, originIdleTimeout: 1h }
                """, memory: "0", stallTimeout: .hours(1))
        // When several clients request one each and read only its head
        let heads = try await stall(0..<6, on: server, origin: origin) {
            // Then their memory stays within the limit, and short responses continue
            let held = try await Self.metric("onesheet_response_bytes_held", server)
            XCTAssertTrue((16 << 20...34 << 20).contains(held), "\(held)")
            let answer = try await server.send("/t/p/w92/sample/1.jpg")
            XCTAssertEqual(answer.status, 200)
            let ready = try await server.send("/ready")
            XCTAssertEqual(ready.status, 200)
        }
        // And pictures were sent if there was room; the others were refused immediately
        let good = heads.count { $0.hasPrefix("HTTP/1.1 200 ") }
        XCTAssertTrue((1...2).contains(good), "\(heads)")
        let refused = heads.filter { $0.hasPrefix("HTTP/1.1 503 ") }
        XCTAssertEqual(refused.count, 6 - good)
        XCTAssertTrue(refused.allSatisfy { $0.contains("Retry-After: 1\r\n") }, "\(refused)")
    }

    func testThatTheSlowestMakesRoomForOthers() async throws {
        // Given room for one picture, and a client that reads nothing of it
        let origin = try await bigPictures()
        let server = try await server(
            sources: web(origin), keys: "clients: { memory: 16MiB, idleTimeout: 1h, requestTimeout: 1h }", memory: "0")
        _ = try await stall(0..<1, on: server, origin: origin) {
            // When another client retries again and again
            var (status, tries) = (503, 0)
            while status == 503, tries < 10_000 {
                try await Task.sleep(for: .milliseconds(10))
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

    func testThatPipelinedRequestsAreAnsweredInOrderWhereverReadsEnd() async throws {
        // Given two posters in memory
        let server = try await server(keys: "clients: { idleTimeout: 1h, requestTimeout: 1h }")
        let targets = ["/t/p/w342/sample/1.jpg", "/t/p/w342/sample/2.jpg", "/health", "/sources"]
        var bodies: [Data] = []
        for target in targets {
            _ = try await server.send(target)
            bodies.append(Data(try await server.send(target).body.readableBytesView))
        }
        // When a client sends a thousand requests in packets of any size, ends its side, and reads only then
        let order = (0..<1000).map { $0 % 97 == 0 ? 3 : $0 % 13 == 0 ? 2 : $0 % 2 }
        var bytes = order.flatMap { Array("GET \(targets[$0]) HTTP/1.1\r\nHost: h\r\n\r\n".utf8) }[...]
        var parts: [[UInt8]] = []
        while !bytes.isEmpty {
            parts.append(Array(bytes.prefix(1 + (parts.count * 7919) % 1499)))
            bytes = bytes.dropFirst(parts[parts.count - 1].count)
        }
        let answers = try await RawConnection.exchange(parts, with: server.url)[...]
        // Then it gets all the responses in their order
        var rest = answers
        for (index, target) in order.enumerated() {
            let end = try XCTUnwrap(rest.firstRange(of: Array("\r\n\r\n".utf8)), "\(index)")
            XCTAssertTrue(rest.starts(with: Array("HTTP/1.1 200 ".utf8)), "\(index)")
            rest = rest[end.upperBound...]
            // Without optimisation, `starts(with:)` would take most of the time.
            let body = bodies[target]
            guard Data(rest.prefix(body.count)) == body else { return XCTFail("\(index)") }
            rest = rest.dropFirst(body.count)
        }
        XCTAssertTrue(rest.isEmpty)
    }

    func testThatARequestBehindAResponseMayArriveInPieces() async throws {
        // Given a poster in memory, and a short timeout for requests
        let server = try await server(keys: "clients: { idleTimeout: 1h, requestTimeout: 1s }")
        let poster = "/t/p/w92/sample/1.jpg"
        _ = try await server.send(poster)
        let request = "GET \(poster) HTTP/1.1\r\nHost: h\r\n\r\n"
        // When a request follows a response and is cut, then the rest completes it
        for length in [1, 4, 10, request.utf8.count - 1] {
            let parts = [request + request.prefix(length), String(request.dropFirst(length))]
            let answer = try await RawConnection.exchange(parts.map { Array($0.utf8) }, with: server.url)
            XCTAssertEqual(answer.split(separator: Array("HTTP/1.1 200 ".utf8)).count, 2, "\(length)")
        }
        // And without a rest the connection ends
        let cut = try await RawConnection.exchange([Array((request + "GET /t").utf8)], with: server.url, ends: false)
        XCTAssertEqual(cut.split(separator: Array("HTTP/1.1 200 ".utf8)).count, 1)
        // And a head with wrong ends of lines is an error at once
        let wrong = try await RawConnection.exchange(
            [Array((request + "GET / HTTP/1.1\nHost: h\n\n").utf8)], with: server.url, ends: false)
        XCTAssertEqual(wrong.split(separator: Array("HTTP/1.1 400 ".utf8)).count, 2)
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

    func testThatAConnectionOfHTTP10EndsWithTheResponse() async throws {
        // Given a server with long timeouts, and a poster in memory
        let server = try await server(keys: "clients: { idleTimeout: 1h, requestTimeout: 1h }")
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        for path in ["/health", "/sources", "/t/p/w92/sample/1.jpg", "/t/p/w93/sample/1.jpg"] {
            // When a client without persistent connections asks, then the connection ends with the response
            let bytes = try await RawConnection.exchange(
                [Array("GET \(path) HTTP/1.0\r\n\r\n".utf8)], with: server.url, ends: false)
            XCTAssertTrue(bytes.starts(with: Array("HTTP/1.".utf8)), path)
        }
    }

    func testThatAConnectionEndsAfterARequestForAnotherProtocol() async throws {
        // Given a server with long timeouts
        let server = try await server(keys: "clients: { idleTimeout: 1h, requestTimeout: 1h }")
        for request in [
            "GET /sources HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\nConnection: HTTP2-Settings, Upgrade\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
            "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n",
        ] {
            // When a client sends such a request and another one, then the parser reads only the first, and the connection ends
            let both = request + "GET /sources HTTP/1.1\r\nHost: h\r\n\r\n"
            let bytes = try await RawConnection.exchange([Array(both.utf8)], with: server.url, ends: false)
            XCTAssertEqual(bytes.split(separator: Array("HTTP/1.1 ".utf8)).count, 1, request)
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
        _ = try await stall(0..<3, on: server, origin: origin) {
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
        _ pictures: Range<Int>, on server: RunningServer, origin: OriginServer, during body: () async throws -> Void
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
            heads += try await stall(pictures.dropFirst(), on: server, origin: origin, during: body)
        }
        return heads
    }

    /// Keeps `count` silent connections open while `body` runs.
    private func open(_ count: Int, _ url: String, during body: () async throws -> Void) async throws {
        guard count > 0 else { return try await body() }
        try await OpenConnection.with(url) { _ in try await open(count - 1, url, during: body) }
    }

    private static func metric(_ name: String, _ server: RunningServer) async throws -> Int {
        let text = try await server.send("/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return Int(try XCTUnwrap(line, name).dropFirst(name.count + 1)) ?? -1
    }
}
