import NIOCore
import NIOEmbedded
import XCTest

@testable import OnesheetServer

final class PromptEndTests: XCTestCase {
    func testThatTheSocketClosesAfterBothGoodbyes() throws {
        // Given a connection whose encryption never answers a close
        let (channel, encryption) = try connection()
        // When the client closes its half first, then nothing ends: it may read on
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        XCTAssertTrue(channel.isActive)
        // When the server closes, and the client after it
        channel.close(promise: nil)
        XCTAssertTrue(channel.isActive)
        XCTAssertEqual(encryption.closes, 1)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        channel.embeddedEventLoop.run()
        // Then the socket closes, and the encryption is not asked again
        XCTAssertFalse(channel.isActive)
        XCTAssertEqual(encryption.closes, 1)
    }

    func testThatTheClientsGoodbyeIsTakenOnlyAfterTheServers() throws {
        // Given a connection whose client may close its half first
        let (channel, _) = try connection()
        channel.allowRemoteHalfClosure = true
        try channel.writeInbound(ByteBuffer(string: "encrypted"))
        XCTAssertTrue(channel.allowRemoteHalfClosure)
        // When the server closes, and the client sends more
        channel.close(promise: nil)
        try channel.writeInbound(ByteBuffer(string: "goodbye"))
        // Then that ends the connection
        XCTAssertFalse(channel.allowRemoteHalfClosure)
    }

    func testThatTheEndOfTheServersHalfIsNoGoodbye() throws {
        let (channel, _) = try connection()
        channel.close(mode: .output, promise: nil)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        XCTAssertTrue(channel.isActive)
    }

    private func connection() throws -> (EmbeddedChannel, SilentEncryption) {
        let channel = EmbeddedChannel()
        let socket = EncryptedBytes(ResponseMemory(limit: 1 << 20))
        let encryption = SilentEncryption()
        try channel.pipeline.syncOperations.addHandlers(socket, encryption, PromptEnd(socket))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return (channel, encryption)
    }
}

/// Waits for an answer to its goodbye.
private final class SilentEncryption: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    private(set) var closes = 0

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) { closes += 1 }
}
