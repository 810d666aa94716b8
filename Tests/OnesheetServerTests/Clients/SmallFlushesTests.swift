import NIOCore
import NIOEmbedded
import XCTest

@testable import OnesheetServer

final class SmallFlushesTests: XCTestCase {
    func testThatManyWritesAreFlushedInParts() throws {
        // Given a channel
        let channel = EmbeddedChannel(handler: SmallFlushes())
        let piece = ByteBuffer(repeating: 1, count: 12 << 10)
        // When more than 32 KiB are written without a flush
        for _ in 0..<4 { channel.write(piece, promise: nil) }
        // Then the first three pieces are flushed
        XCTAssertEqual(try parts(of: channel), 3)
        // And the fourth comes with the flush of its writer
        channel.flush()
        XCTAssertEqual(try parts(of: channel), 1)
        // And the count begins again
        channel.write(piece, promise: nil)
        XCTAssertEqual(try parts(of: channel), 0)
        _ = try channel.finish()
    }

    private func parts(of channel: EmbeddedChannel) throws -> Int {
        var count = 0
        while try channel.readOutbound(as: ByteBuffer.self) != nil { count += 1 }
        return count
    }
}
