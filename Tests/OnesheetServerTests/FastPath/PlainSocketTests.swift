import NIOCore
import NIOEmbedded
import NIOPosix
import XCTest

@testable import OnesheetServer

final class PlainSocketTests: XCTestCase {
    func testThatTheBytesArriveInTheOrderOfTheCalls() async throws {
        try await withConnection { server, inbound in
            // When some bytes are sent by the channel, some by the socket
            let socket = try await socket(of: server)
            for number in 0..<100 {
                let bytes = ByteBuffer(string: "\(number),")
                if number.isMultiple(of: 2) {
                    try await server.writeAndFlush(bytes)
                } else {
                    // In one part or in two
                    let head = number % 4 == 1 ? bytes : ByteBuffer(bytes: bytes.readableBytesView.dropLast())
                    let body = number % 4 == 1 ? ByteBuffer() : ByteBuffer(string: ",")
                    let sent = try await server.eventLoop.submit { socket.value.send(head, body) }.get()
                    XCTAssertEqual(sent, bytes.readableBytes)
                }
            }
            try await server.close()
            // Then they arrive in this order
            var text = ""
            for try await bytes in inbound { text += String(buffer: bytes) }
            XCTAssertEqual(text, (0..<100).map { "\($0)," }.joined())
        }
    }

    func testThatAFullSocketTakesNothing() async throws {
        try await withConnection { server, _ in
            // Given a client that reads nothing
            let socket = try await socket(of: server)
            let bytes = ByteBuffer(repeating: 7, count: 64 << 10)
            // When more is sent than it takes, then the socket takes nothing in the end
            let isFull = try await server.eventLoop.submit {
                (0..<100_000).contains { _ in socket.value.send(bytes) == 0 }
            }.get()
            XCTAssertTrue(isFull)
        }
    }

    func testThatAChannelWithoutASocketHasNone() { XCTAssertNil(PlainSocket(EmbeddedChannel())) }

    private func socket(of channel: any Channel) async throws -> NIOLoopBound<PlainSocket> {
        try await channel.eventLoop.submit {
            NIOLoopBound(try XCTUnwrap(PlainSocket(channel)), eventLoop: channel.eventLoop)
        }.get()
    }

    /// The server's end of a connection, and what the client receives. The client reads little more than is taken.
    private func withConnection(
        _ body: (any Channel, NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let accepted = group.any().makePromise(of: (any Channel).self)
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                accepted.succeed(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client = try await ClientBootstrap(group: group).connect(to: XCTUnwrap(listener.localAddress)) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        let server = try await accepted.futureResult.get()
        try await client.executeThenClose { inbound, _ in try await body(server, inbound) }
        try await listener.close()
    }
}
