import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Bodies that wait for windows (RFC 9113 §5.2), and the end of a connection (§6.8).
final class HTTP2FlowTests: ServerTestCase {
    private typealias Kind = RawHTTP2.Kind

    func testBodyUnderWayIsSentBeforeTheEnd() async throws {
        // Given a poster whose body waits for the client
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let poster = "/t/p/w342/sample/1.jpg"
        var body: [UInt8] = []
        try await RawHTTP2.with(server.url, certificate) { client in body = try await client.body(of: poster, on: 1) }
        try await RawHTTP2.with(server.url, certificate, window: 0) { client in
            try await client.get(poster, on: 1)
            _ = await client.next { $0.type == Kind.headers }
            // When the server shuts down, and the client sends requests before and after it answers the ping
            XCTAssertTrue(server.server.drain())
            let ping = await client.next { $0.type == Kind.ping && $0.flags == 0 }
            try await client.get(poster, on: 3)
            let refused = await client.next { $0.stream == 3 }
            try await client.send(
                RawHTTP2.frame(Kind.ping, flags: 1, stream: 0, payload: try XCTUnwrap(ping).payload)
                    + RawHTTP2.headers(poster, on: 5))
            try await client.send(
                RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 1, payload: RawHTTP2.number(1 << 20, 4)))
            // Then it may send the first of them again elsewhere (RFC 9113 §8.7)
            XCTAssertEqual(refused?.type, Kind.reset)
            XCTAssertEqual(refused?.payload, [0, 0, 0, 7])
            // And the body arrives as a whole, and the connection ends
            var received: [UInt8] = []
            while let frame = await client.next() {
                XCTAssertLessThanOrEqual(frame.stream, 1)
                if frame.type == Kind.data { received += frame.payload }
            }
            XCTAssertTrue(received == body)
        }
        try await server.end()
    }

    func testThatManyWaitingBodiesStayWhole() async throws {
        // Given posters in memory, of different lengths
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let paths = (0..<40).map { "/t/p/\(["w92", "w154", "w185", "w342", "w500"][$0 % 5])/sample/\($0 / 5 + 1).jpg" }
        var bodies: [[UInt8]] = []
        for path in paths {
            try await RawHTTP2.with(server.url, certificate) { client in bodies.append(try await client.body(of: path, on: 1)) }
        }
        try await RawHTTP2.with(server.url, certificate, window: 1 << 24) { client in
            // When a client requests all, and the window of its connection is used up
            try await client.send(paths.indices.flatMap { RawHTTP2.headers(paths[$0], on: 2 * $0 + 1) })
            var (received, ended, count) = ([Int: [UInt8]](), 0, 0)
            while count < 65_535, let frame = await client.next(where: { $0.type == Kind.data }) {
                received[frame.stream, default: []] += frame.payload
                (ended, count) = (ended + Int(frame.flags & 1), count + frame.payload.count)
            }
            // And it widens that at once
            try await client.send(RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: RawHTTP2.number(1 << 24, 4)))
            while ended < paths.count, let frame = await client.next(where: { $0.type == Kind.data }) {
                received[frame.stream, default: []] += frame.payload
                ended += Int(frame.flags & 1)
            }
            // Then each stream has its own bytes
            for index in paths.indices { XCTAssertTrue(received[2 * index + 1] == bodies[index], paths[index]) }
        }
    }

    func testThatStreamsTakeTurns() async throws {
        // Given a picture that is longer than the window of a connection
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let picture = "/t/p/original/sample/1.jpg"
        var body: [UInt8] = []
        try await RawHTTP2.with(server.url, certificate) { client in body = try await client.body(of: picture, on: 1) }
        try await RawHTTP2.with(server.url, certificate, window: 1 << 20) { client in
            // When a client requests it on three streams, and widens the window of the connection little by little
            for stream in [1, 3, 5] { try await client.get(picture, on: stream) }
            var (received, ended, order) = ([Int: [UInt8]](), Set<Int>(), [Int]())
            var (begun, taken) = (Set<Int>(), 0)
            while ended.count < 3, let frame = await client.next() {
                if frame.type == Kind.headers { begun.insert(frame.stream) }
                if frame.type == Kind.data {
                    received[frame.stream, default: []] += frame.payload
                    order.append(frame.stream)
                    taken += frame.payload.count
                    if frame.flags & 1 == 1 { ended.insert(frame.stream) }
                }
                // All responses have begun before there is more room.
                guard begun.count == 3, taken > 0 else { continue }
                try await client.send(
                    RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: RawHTTP2.number(taken, 4)))
                taken = 0
            }
            // Then all get it as a whole
            XCTAssertEqual(ended, [1, 3, 5])
            for stream in [1, 3, 5] { XCTAssertTrue(received[stream] == body, "\(stream)") }
            // And none waits for the end of another one
            XCTAssertGreaterThan(try XCTUnwrap(order.lastIndex(of: 1)), try XCTUnwrap(order.firstIndex(of: 5)))
        }
    }

    func testThatLongBodiesOfRequestsAreTaken() async throws {
        // Given a server that reads the body of an administrator's request
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nadmin: { token: secret-for-tests }")
        let order = Array(#"{"source": "sample", "ids": ["1"], "sizes": ["w92"]}"#.utf8)
        let spaces = Array(repeating: UInt8(ascii: " "), count: 400_000 - order.count)
        try await RawHTTP2.with(server.url, certificate) { client in
            let token = RawHTTP2.field("authorization", "Bearer secret-for-tests")
            // When a body is longer than the windows, and the client waits for the server to widen them
            try await client.send(
                RawHTTP2.headers("/prefetch", on: 1, ends: false, more: token, method: "POST"))
            var (rest, stream, connection) = (spaces + order, 65_535, 65_535)
            while !rest.isEmpty {
                let count = min(rest.count, 16_384, stream, connection)
                if count > 0 {
                    let isLast = count == rest.count
                    try await client.send(
                        RawHTTP2.frame(Kind.data, flags: isLast ? 1 : 0, stream: 1, payload: Array(rest.prefix(count))))
                    rest.removeFirst(count)
                    (stream, connection) = (stream - count, connection - count)
                    continue
                }
                guard let update = await client.next(where: { $0.type == Kind.windowUpdate }) else {
                    return XCTFail("\(rest.count)")
                }
                let increment = update.payload.reduce(0) { $0 << 8 | Int($1) }
                if update.stream == 0 { connection += increment } else { stream += increment }
            }
            // Then it is read as a whole
            let answer = await client.next { $0.type == Kind.headers && $0.stream == 1 }
            XCTAssertTrue(answer?.isOK ?? false)
        }
    }

    func testServerThatEndsSaysGoodbyeTwice() async throws {
        // Given a connection
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        try await RawHTTP2.with(server.url, certificate) { client in
            _ = try await client.body(of: "/health", on: 1)
            // When the server shuts down
            XCTAssertTrue(server.server.drain())
            // Then it says goodbye without a last stream
            let first = await client.next { $0.type == Kind.goAway }
            XCTAssertEqual(first?.payload, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
            let ping = await client.next { $0.type == Kind.ping && $0.flags == 0 }
            // And after the answer to its ping, it names the last stream and answers no later one
            try await client.send(
                RawHTTP2.frame(Kind.ping, flags: 1, stream: 0, payload: try XCTUnwrap(ping).payload)
                    + RawHTTP2.headers("/health", on: 3))
            let last = await client.next { $0.type == Kind.goAway || $0.stream == 3 }
            XCTAssertEqual(last?.payload, [0, 0, 0, 1, 0, 0, 0, 0])
            while let frame = await client.next() { XCTAssertNotEqual(frame.stream, 3) }
        }
        try await server.end()
    }
}
