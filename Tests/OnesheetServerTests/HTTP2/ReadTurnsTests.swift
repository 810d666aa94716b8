import NIOCore
import NIOEmbedded
import XCTest

@testable import OnesheetServer

/// What an HTTP/2 client has sent, until NIO's handler of frames gets it.
final class ReadTurnsTests: XCTestCase {
    func testLongReadTakesATurnForEachPiece() throws {
        // Given a connection that has received 5,000 bytes, and another with ten
        let loop = EmbeddedEventLoop()
        let turns = ConnectionTurns(on: loop)
        let (greedy, modest) = (try channel(on: loop, turns), try channel(on: loop, turns))
        try greedy.writeInbound(ByteBuffer(bytes: (0..<5000).map { UInt8(truncatingIfNeeded: $0) }))
        try modest.writeInbound(ByteBuffer(string: "ten bytes."))
        XCTAssertEqual(try received(modest).count, 10)
        // When the loop goes on, then two KiB come in each turn, and what has arrived meanwhile comes at the end
        XCTAssertEqual(try received(greedy).count, 2048)
        try greedy.writeInbound(ByteBuffer(string: "later"))
        XCTAssertEqual(try received(greedy), [])
        var rest: [UInt8] = []
        for expected in [2048, 909] {
            loop.advanceTime(by: .microseconds(200))
            let piece = try received(greedy)
            XCTAssertEqual(piece.count, expected)
            rest += piece
        }
        XCTAssertEqual(rest, (2048..<5000).map { UInt8(truncatingIfNeeded: $0) } + Array("later".utf8))
        // And the next read passes at once
        try greedy.writeInbound(ByteBuffer(string: "next"))
        XCTAssertEqual(try received(greedy), Array("next".utf8))
    }

    func testConnectionWithTooMuchWaitingIsClosed() throws {
        let loop = EmbeddedEventLoop()
        let channel = try channel(on: loop, ConnectionTurns(on: loop))
        for _ in 0..<9 where channel.isActive { try channel.writeInbound(ByteBuffer(repeating: 0, count: 16 << 10)) }
        loop.run()
        XCTAssertFalse(channel.isActive)
    }

    private func channel(on loop: EmbeddedEventLoop, _ turns: ConnectionTurns) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ReadTurns(turns), loop: loop)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/test")).wait()
        return channel
    }

    /// The bytes that have arrived behind the handler.
    private func received(_ channel: EmbeddedChannel) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try channel.readInbound(as: ByteBuffer.self) { bytes += piece.readableBytesView }
        return bytes
    }
}
