import NIOCore
import NIOEmbedded
import OnesheetCore
import NIOHPACK
import NIOHTTP2
import OnesheetPipeline
import XCTest

@testable import OnesheetServer

/// The streams of HTTP/2 connections until the router has their requests.
final class StreamEntranceTests: XCTestCase {
    func testOtherConnectionsGoBetweenTurns() throws {
        // Given a client that has sent twenty requests at once, and another that sends one
        let loop = EmbeddedEventLoop()
        let turns = ConnectionTurns(on: loop)
        let (greedy, modest) = (Connection(on: loop, turns), Connection(on: loop, turns))
        for _ in 0..<20 { try greedy.request() }
        try modest.request()
        XCTAssertEqual([greedy.begun, modest.begun], [0, 0])
        // When the loop goes on, then the first of both begin, and the others in turns
        loop.run()
        XCTAssertEqual([greedy.begun, modest.begun], [8, 1])
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(greedy.begun, 16)
        loop.advanceTime(by: .microseconds(200))
        XCTAssertEqual(greedy.begun, 20)
        XCTAssertEqual(greedy.requests.open, 20)
    }

    func testStreamThatIsGoneTakesNoTurn() throws {
        // Given a client that has sent more requests than a turn begins
        let loop = EmbeddedEventLoop()
        let client = Connection(on: loop, ConnectionTurns(on: loop))
        let streams = try (0..<20).map { _ in try client.request() }
        // When it takes the first back at once, and the last before its turn
        for stream in streams.prefix(10) { try stream.close().wait() }
        loop.run()
        XCTAssertEqual(client.begun, 8)
        for stream in streams.suffix(2) { try stream.close().wait() }
        loop.advanceTime(by: .microseconds(200))
        // Then the router gets none of these
        XCTAssertEqual(client.begun, 8)
        XCTAssertEqual(client.requests.open, 8)
    }

    func testBodyWithoutMeaningIsDropped() throws {
        // Given requests whose bodies come byte by byte
        let loop = EmbeddedEventLoop()
        let client = Connection(on: loop, ConnectionTurns(on: loop))
        for (method, parts) in [("GET", 1), ("HEAD", 1), ("POST", 51)] {
            let stream = try client.request(method, isLast: false)
            for _ in 0..<25 { try stream.writeInbound(part([1])) }
            loop.run()
            for _ in 0..<25 { try stream.writeInbound(part([1])) }
            try stream.writeInbound(part([], isLast: true))
            // Then a body that has no meaning is not kept, except for its end
            var received = 0
            while let payload = try stream.readInbound(as: HTTP2Frame.FramePayload.self) {
                if case .data = payload { received += 1 }
            }
            XCTAssertEqual(received, parts, method)
        }
    }

    func testOnlySomeFramesWaitBehindAHead() throws {
        // Given a request that waits for its turn
        let loop = EmbeddedEventLoop()
        let client = Connection(on: loop, ConnectionTurns(on: loop))
        let stream = try client.request("POST", isLast: false)
        // When its body comes in more parts than may wait
        for _ in 0..<65 { try stream.writeInbound(part([1])) }
        // Then the stream is reset, and the router does not get it
        guard case .rstStream(.enhanceYourCalm)? = try stream.readOutbound(as: HTTP2Frame.FramePayload.self) else {
            return XCTFail("the stream was not reset")
        }
        loop.run()
        XCTAssertEqual(client.begun, 0)
    }

    private func part(_ bytes: [UInt8], isLast: Bool = false) -> HTTP2Frame.FramePayload {
        .data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: isLast))
    }

    /// A connection whose streams have no other handlers.
    private final class Connection {
        let requests: StreamRequests
        /// The number of streams that the router has got.
        private(set) var begun = 0
        private let loop: EmbeddedEventLoop

        init(on loop: EmbeddedEventLoop, _ turns: ConnectionTurns) {
            let (budget, memory) = (MemoryBudget(limit: 1 << 30), ResponseMemory(limit: 1 << 20))
            self.loop = loop
            requests = StreamRequests(
                from: nil, on: loop, nil,
                connections: OpenConnections(
                    ClientsConfiguration(), memory: memory, waiting: .waitingRequests(of: budget), of: budget, isEncrypted: true),
                places: .streams(of: budget), accessLog: nil, turns: turns)
        }

        @discardableResult
        func request(_ method: String = "GET", isLast: Bool = true) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel(loop: loop)
            let entrance = StreamEntrance(requests) { [unowned self] _ in begun += 1 }
            try channel.pipeline.syncOperations.addHandler(entrance)
            let fields: HPACKHeaders = [":method": method, ":scheme": "https", ":path": "/health", ":authority": "h"]
            try channel.writeInbound(HTTP2Frame.FramePayload.headers(.init(headers: fields, endStream: isLast)))
            return channel
        }
    }
}
