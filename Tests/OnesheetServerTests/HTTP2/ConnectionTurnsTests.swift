import NIOCore
import NIOEmbedded
import NIOHTTP2
import XCTest

@testable import OnesheetServer

/// The turns that the HTTP/2 connections of an event loop take.
final class ConnectionTurnsTests: ServerTestCase {
    private typealias Kind = RawHTTP2.Kind

    func testThatOneTurnIsDueAtATime() {
        // Given three connections that wait again after each turn
        let loop = EmbeddedEventLoop()
        let (turns, order) = (ConnectionTurns(on: loop), Order())
        for name in ["a", "b", "c"] { order.wait(turns, as: name) }
        // When time passes, and each turn takes longer than the pause
        for expected in ["a", "ab", "abc", "abca", "abcab"] {
            loop.advanceTime(by: .microseconds(200))
            // Then one has its turn, and the others let the loop look at its sockets first
            XCTAssertEqual(order.names, expected)
        }
        order.isOver = true
        for _ in 0..<5 { loop.advanceTime(by: .microseconds(200)) }
        XCTAssertEqual(order.names, "abcabcab")
    }

    private final class Order {
        var names = ""
        var isOver = false

        func wait(_ turns: ConnectionTurns, as name: String) {
            turns.wait { [self] in
                names += name
                if !isOver { wait(turns, as: name) }
            }
        }
    }

    func testThatRequestsBehindATurnWaitAndTheSocketIsNotRead() throws {
        // Given twenty frames
        var input = FrameInput()
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        let settings = RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: [])
        try input.append(ByteBuffer(bytes: preface + (0..<20).flatMap { _ in settings }))
        // When the requests of the first eight get channels
        XCTAssertTrue(input.begin())
        XCTAssertFalse(input.begin())
        XCTAssertTrue(input.holdRead())
        var taken = 0
        while try input.next() != nil {
            taken += 1
            input.count(FrameInput.costOfChannel)
        }
        input.end()
        // Then the others wait for the next turn, and so does the read
        XCTAssertEqual(taken, 8)
        XCTAssertTrue(input.isWaiting)
        XCTAssertFalse(input.begin())
        XCTAssertTrue(input.holdRead())
        XCTAssertFalse(input.releaseRead())
        // And what comes before the end of the input waits up to a limit
        try input.append(ByteBuffer(repeating: 0, count: 100_000))
        XCTAssertThrowsError(try input.append(ByteBuffer(repeating: 0, count: 100_000))) {
            XCTAssertEqual(($0 as? ConnectionFailure)?.code, .enhanceYourCalm)
        }
        input.beginTurn()
        XCTAssertTrue(input.begin())
        XCTAssertNotNil(try input.next())
        input.end()
        XCTAssertTrue(input.releaseRead())
        XCTAssertFalse(input.releaseRead())
        XCTAssertFalse(input.holdRead())
    }

    func testThatManyRequestsAtOnceAreAllAnswered() async throws {
        // Given a server, and a client that asks for many titles that do not exist, and for one that does
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        try await RawHTTP2.with(server.url, certificate, window: 1 << 24) { client in
            try await client.send(RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: RawHTTP2.number(1 << 30, 4)))
            let poster = "/t/p/w92/sample/1.jpg"
            _ = try await client.body(of: poster, on: 1)
            let wrong = (0..<100).flatMap { RawHTTP2.headers("/t/p/w92/sample/none\($0).jpg", on: 2 * $0 + 3) }
            let ping = RawHTTP2.frame(Kind.ping, flags: 0, stream: 0, payload: Array(repeating: 1, count: 8))
            try await client.send(wrong + ping)
            // Then all are answered, and so is what follows them
            var (answers, pings) = (0, 0)
            while answers < 100 || pings < 1, let frame = await client.next() {
                if frame.type == Kind.headers { answers += 1 }
                if frame.type == Kind.ping { pings += 1 }
            }
            XCTAssertEqual(answers, 100)
            for first in stride(from: 203, to: 2203, by: 200) {
                try await client.send((0..<100).flatMap { RawHTTP2.headers(poster, on: first + 2 * $0) })
                var ended = 0
                while ended < 100, let frame = await client.next(where: { $0.type == Kind.data }) { ended += Int(frame.flags & 1) }
                XCTAssertEqual(ended, 100)
            }
        }
    }

    func testThatAClientThatLeavesDuringItsTurnsEndsNoServer() async throws {
        // Given a server
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        for _ in 0..<5 {
            // When a client sends many requests, more than wait at most, and leaves at once
            try await RawHTTP2.with(server.url, certificate) { client in
                try await client.send((0..<3000).flatMap { RawHTTP2.headers("/t/p/w92/sample/none\($0).jpg", on: 2 * $0 + 1) })
            }
        }
        // Then another is answered
        try await RawHTTP2.with(server.url, certificate) { client in
            let body = try await client.body(of: "/health", on: 1)
            XCTAssertEqual(String(decoding: body, as: UTF8.self), "ok\n")
        }
        // And none of the others keeps it from ending
        XCTAssertTrue(server.server.drain())
        try await server.end()
    }
}
