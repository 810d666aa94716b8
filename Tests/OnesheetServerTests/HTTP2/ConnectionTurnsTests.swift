import NIOCore
import NIOEmbedded
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
        // When the pause passes
        for expected in ["a", "ab", "abc", "abca", "abcab"] {
            loop.advanceTime(by: .microseconds(200))
            // Then one has its turn, and the others let the loop look at its sockets first
            XCTAssertEqual(order.names, expected)
        }
        order.isOver = true
        for _ in 0..<5 { loop.advanceTime(by: .microseconds(200)) }
        XCTAssertEqual(order.names, "abcabcab")
    }

    func testThatAConnectionThatIsGoneTakesNoTurn() {
        // Given two connections that are gone, and one that is not
        let loop = EmbeddedEventLoop()
        let turns = ConnectionTurns(on: loop)
        var called: [String] = []
        for (name, isThere) in [("a", false), ("b", false), ("c", true), ("d", true)] {
            turns.wait {
                called.append(name)
                return isThere
            }
        }
        // When the pause passes, then the first that is there has its turn
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(called, ["a", "b", "c"])
    }

    private final class Order {
        var names = ""
        var isOver = false

        func wait(_ turns: ConnectionTurns, as name: String) {
            turns.wait { [self] in
                names += name
                if !isOver { wait(turns, as: name) }
                return true
            }
        }
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
            // When a client sends many requests, and leaves at once
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
