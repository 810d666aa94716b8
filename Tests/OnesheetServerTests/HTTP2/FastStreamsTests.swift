import NIOCore
import NIOEmbedded
import OnesheetCore
import NIOHPACK
import NIOHTTP2
import OnesheetPipeline
import XCTest

@testable import OnesheetServer

/// The frames of an HTTP/2 connection between NIO's handler and its multiplexer.
final class FastStreamsTests: XCTestCase {
    private let reset = HTTP2Frame.FramePayload.rstStream(.cancel)

    func testStreamThatIsResetInTheSameReadIsNotPassedOn() throws {
        // Given three requests, of which the client takes two back in the same read
        let channel = try channel()
        for (stream, payload) in [(1, head()), (1, reset), (3, head()), (5, head()), (5, reset)] {
            try read(payload, on: stream, channel)
        }
        XCTAssertNil(try channel.readInbound(as: HTTP2Frame.self))
        // When the read ends
        channel.pipeline.fireChannelReadComplete()
        // Then the multiplexer gets the other one alone
        XCTAssertEqual(try passed(channel), ["3 headers"])
        // And a later reset of that too
        try read(reset, on: 3, channel)
        XCTAssertEqual(try passed(channel), ["3 reset"])
    }

    func testFramesStayInOrder() throws {
        // Given heads, and a body behind one of them
        let channel = try channel()
        try read(head(), on: 1, channel)
        try read(head(isLast: false), on: 3, channel)
        try read(.data(.init(data: .byteBuffer(ByteBuffer(string: "{}")), endStream: true)), on: 3, channel)
        // Then the heads come before the body, in their order, and each once
        XCTAssertEqual(try passed(channel), ["1 headers", "3 headers", "3 data"])
        channel.pipeline.fireChannelReadComplete()
        XCTAssertEqual(try passed(channel), [])
    }

    func testStreamIsToldOfAfterItsHead() throws {
        // Given a head, and NIO's event behind it
        let (channel, events) = (try channel(), Events())
        try channel.pipeline.syncOperations.addHandler(events)
        try read(head(), on: 1, channel)
        channel.pipeline.fireUserInboundEventTriggered(
            NIOHTTP2StreamCreatedEvent(streamID: 1, localInitialWindowSize: 1, remoteInitialWindowSize: 1))
        XCTAssertEqual(events.order, [])
        // When the read ends, then both are passed on in this order
        channel.pipeline.fireChannelReadComplete()
        XCTAssertEqual(events.order, ["frame", "created"])
    }

    /// Notes frames and the events of new streams.
    private final class Events: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        private(set) var order: [String] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { order.append("frame") }
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is NIOHTTP2StreamCreatedEvent { order.append("created") }
        }
    }

    private func channel() throws -> EmbeddedChannel {
        let (budget, memory) = (MemoryBudget(limit: 1 << 30), ResponseMemory(limit: 1 << 20))
        let channel = EmbeddedChannel()
        let requests = StreamRequests(
            from: nil, on: channel.eventLoop, nil,
            connections: OpenConnections(
                ClientsConfiguration(), memory: memory, waiting: .waitingRequests(of: budget), of: budget, isEncrypted: true),
            places: .streams(of: budget), accessLog: nil, turns: ConnectionTurns(on: channel.eventLoop))
        try channel.pipeline.syncOperations.addHandler(FastStreams(requests, memory: memory, idleTimeout: .hours(1)))
        return channel
    }

    private func head(isLast: Bool = true) -> HTTP2Frame.FramePayload {
        let fields: HPACKHeaders = [":method": "GET", ":scheme": "https", ":path": "/health", ":authority": "h"]
        return .headers(.init(headers: fields, endStream: isLast))
    }

    /// Gives `channel` a frame without the end of a read.
    private func read(_ payload: HTTP2Frame.FramePayload, on stream: Int, _ channel: EmbeddedChannel) throws {
        channel.pipeline.fireChannelRead(HTTP2Frame(streamID: HTTP2StreamID(stream), payload: payload))
        try channel.throwIfErrorCaught()
    }

    /// The frames that have arrived behind the handler.
    private func passed(_ channel: EmbeddedChannel) throws -> [String] {
        var frames: [String] = []
        while let frame = try channel.readInbound(as: HTTP2Frame.self) {
            let kind =
                switch frame.payload {
                case .headers: "headers"
                case .data: "data"
                case .rstStream: "reset"
                default: "other"
                }
            frames.append("\(Int(frame.streamID)) \(kind)")
        }
        return frames
    }
}
