import NIOCore
import NIOEmbedded
import NIOHTTP2
import OnesheetPipeline
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

    func testThatTheCostIsCountedAnewAfterAWhile() throws {
        // Given a connection whose requests have cost almost a whole turn
        let begun = NIODeadline.uptimeNanoseconds(1_000_000_000)
        for (passed, isWaiting) in [(TimeAmount.milliseconds(50), true), (.milliseconds(51), false)] {
            var input = FrameInput(at: begun)
            for request in 0..<7 {
                XCTAssertTrue(input.begin(at: begun), "\(request)")
                input.addCost(FrameInput.costOfChannel)
                input.end()
            }
            // When another comes later
            XCTAssertTrue(input.begin(at: begun + passed))
            input.addCost(FrameInput.costOfChannel)
            input.end()
            // Then it ends the turn if that is soon enough
            XCTAssertEqual(input.isWaiting, isWaiting)
        }
    }

    func testThatOtherConnectionsOfTheLoopGoBetweenTurns() throws {
        // Given a client that has sent twenty requests at once
        let loop = EmbeddedEventLoop()
        let turns = ConnectionTurns(on: loop)
        let (greedy, modest) = (try Connection(on: loop, turns), try Connection(on: loop, turns))
        try greedy.request(20)
        XCTAssertEqual(greedy.requests, 8)
        // When another sends one
        try modest.receive(RawHTTP2.headers("/health", on: 1))
        // Then its request goes before the others, whose socket is not read meanwhile
        XCTAssertEqual(modest.requests, 1)
        greedy.channel.read()
        XCTAssertEqual(greedy.reads, 0)
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(greedy.requests, 16)
        XCTAssertEqual(greedy.reads, 0)
        // And is when none wait
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(greedy.requests, 20)
        XCTAssertGreaterThan(greedy.reads, 0)
    }

    func testThatFieldsCountAsLongAsTheyAreAlthoughTheyTakeOneByte() throws {
        // Given a client that has sent a field of 4,000 bytes, which HPACK's table keeps (RFC 7541 §6.2.1)
        let loop = EmbeddedEventLoop()
        let client = try Connection(on: loop, ConnectionTurns(on: loop))
        // 4,000 is 127 in the first byte, and then 3,873 in parts of 7 bits.
        let long = [0x40, 1, UInt8(ascii: "x"), 0x7F, 0xA1, 0x1E] + [UInt8](repeating: UInt8(ascii: "a"), count: 4000)
        func head(_ fields: [UInt8], on stream: Int) -> [UInt8] {
            RawHTTP2.frame(Kind.headers, flags: 0x5, stream: stream, payload: fields)
        }
        try client.receive(head(long, on: 1))
        // When it repeats that, in a byte, before a request
        try client.receive((1..<40).flatMap { head([0xBE], on: 2 * $0 + 1) } + RawHTTP2.headers("/health", on: 81))
        // Then the request waits for the next turn
        XCTAssertEqual(client.requests, 0)
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(client.requests, 1)
    }

    func testThatFramesThatMayCauseWritesEndATurnToo() throws {
        // Given as many window updates as a turn allows
        let loop = EmbeddedEventLoop()
        let client = try Connection(on: loop, ConnectionTurns(on: loop))
        let update = RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: [0, 0, 0, 1])
        try client.receive((0..<256).flatMap { _ in update } + RawHTTP2.headers("/health", on: 1))
        // Then the request behind them waits
        XCTAssertEqual(client.requests, 0)
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(client.requests, 1)
    }

    func testThatARequestThatIsTakenBackAfterATurnCostsNoMore() throws {
        // Given a client whose ninth request is the first of its next turn
        let loop = EmbeddedEventLoop()
        let client = try Connection(on: loop, ConnectionTurns(on: loop))
        try client.request(9)
        XCTAssertEqual(client.requests, 8)
        // When it takes that back before the turn
        try client.receive(RawHTTP2.frame(Kind.reset, flags: 0, stream: 17, payload: [0, 0, 0, 8]))
        loop.advanceTime(by: .microseconds(200))
        // Then the request is not looked at
        XCTAssertEqual(client.requests, 8)
    }

    func testThatAConnectionWithTooMuchThatWaitsIsClosed() throws {
        // Given a connection that waits for its turn
        let loop = EmbeddedEventLoop()
        let client = try Connection(on: loop, ConnectionTurns(on: loop))
        try client.request(20)
        // When more and more comes, as before the end of its input
        for _ in 0..<2 {
            XCTAssertTrue(client.channel.isActive)
            try client.receive([UInt8](repeating: 0, count: 100_000))
        }
        // Then it is closed for that reason, and its turn is over
        XCTAssertFalse(client.channel.isActive)
        let goodbye = RawHTTP2.frame(Kind.goAway, flags: 0, stream: 0, payload: [0, 0, 0, 17, 0, 0, 0, 11])
        XCTAssertTrue(try client.sent().suffix(goodbye.count).elementsEqual(goodbye))
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(client.requests, 8)
    }

    func testThatAConnectionThatIsClosedWhileItWaitsHasNoMoreTurns() throws {
        // Given two connections that wait
        let loop = EmbeddedEventLoop()
        let turns = ConnectionTurns(on: loop)
        let clients = try [Connection(on: loop, turns), Connection(on: loop, turns)]
        for client in clients { try client.request(10) }
        // When the first is closed
        try clients[0].channel.close().wait()
        for _ in 0..<2 { loop.advanceTime(by: .microseconds(200)) }
        // Then the other has its turn
        XCTAssertEqual(clients.map(\.requests), [8, 10])
    }

    /// A connection without a socket, and without the multiplexer behind it.
    private final class Connection {
        let channel: EmbeddedChannel
        private let socket = Socket()
        private let multiplexer = Multiplexer()

        var reads: Int { socket.reads }
        var requests: Int { multiplexer.requests }

        init(on loop: EmbeddedEventLoop, _ turns: ConnectionTurns) throws {
            channel = EmbeddedChannel(loop: loop)
            let (budget, memory) = (MemoryBudget(limit: 1 << 30), ResponseMemory(limit: 1 << 20))
            let requests = StreamRequests(
                from: nil, nil,
                connections: OpenConnections(
                    ClientsConfiguration(), memory: memory, waiting: .waitingRequests(of: budget), of: budget, isEncrypted: true),
                places: .streams(of: budget), accessLog: nil)
            try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
            try channel.pipeline.syncOperations.addHandlers(
                socket, HTTP2Connection(requests, turns, memory: memory, idleTimeout: .hours(1), maximumAge: .hours(1)), multiplexer
            )
            try receive(
                Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
                    + RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: []))
        }

        /// Sends `count` requests at once, on the first streams.
        func request(_ count: Int) throws { try receive((0..<count).flatMap { RawHTTP2.headers("/health", on: 2 * $0 + 1) }) }

        func receive(_ bytes: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }

        func sent() throws -> [UInt8] {
            var sent: [UInt8] = []
            while let bytes = try channel.readOutbound(as: ByteBuffer.self) { sent += bytes.readableBytesView }
            return sent
        }
    }

    /// Counts reads.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var reads = 0

        func read(context: ChannelHandlerContext) { reads += 1 }
    }

    /// Counts the heads of requests, and reads when it gets one, as NIO's multiplexer does.
    private final class Multiplexer: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        var requests = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            requests += 1
            context.read()
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
