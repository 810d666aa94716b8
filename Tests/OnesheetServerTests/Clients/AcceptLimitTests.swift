import NIOCore
import NIOEmbedded
import Synchronization
import XCTest

@testable import OnesheetServer

final class AcceptLimitTests: XCTestCase {
    func testThatThereAreNoMoreConnectionsThanAllowed() {
        let limit = AcceptLimit(connections: 2, places: nil)
        limit.begin()
        limit.connectionOpened()
        XCTAssertTrue(limit.isAcceptingNewConnections())
        limit.connectionOpened()
        XCTAssertFalse(limit.isAcceptingNewConnections())
        limit.connectionClosed()
        XCTAssertTrue(limit.isAcceptingNewConnections())
    }

    func testThatRefusedConnectionsDoNotDelayOthers() {
        // Given a server with memory for 64 connections, of which 32 are open
        let limit = AcceptLimit(connections: 8192, places: 64)
        limit.begin()
        for _ in 0..<32 { limit.connectionOpened() }
        // When others are refused, then there is as much room as before
        for _ in 0..<200 { limit.refusalBegan() }
        XCTAssertEqual(limit.room, 32)
        // When too many of them are not closed yet, then the next ones wait for the first that is
        for _ in 0..<56 { limit.refusalBegan() }
        XCTAssertFalse(limit.isAcceptingNewConnections())
        XCTAssertTrue(limit.refusalEnded())
        XCTAssertTrue(limit.isAcceptingNewConnections())
        XCTAssertFalse(limit.refusalEnded())
    }

    func testThatRefusedConnectionsCountForTheLimitOfAll() {
        let limit = AcceptLimit(connections: 10, places: nil)
        limit.begin()
        for _ in 0..<7 { limit.connectionOpened() }
        for _ in 0..<3 { limit.refusalBegan() }
        XCTAssertFalse(limit.isAcceptingNewConnections())
        XCTAssertTrue(limit.refusalEnded())
        XCTAssertEqual(limit.room, 1)
    }

    func testThatConnectionsWaitIfThereIsNoMemoryForMore() {
        let limit = AcceptLimit(connections: 8192, places: 64)
        limit.begin()
        for _ in 0..<64 { limit.connectionOpened() }
        XCTAssertFalse(limit.isAcceptingNewConnections())
        // A refusal that ends makes no room then.
        limit.refusalBegan()
        XCTAssertFalse(limit.refusalEnded())
        limit.connectionClosed()
        XCTAssertTrue(limit.isAcceptingNewConnections())
    }

    func testThatATurnAcceptsAsManyConnectionsAsThereIsRoomFor() throws {
        // Given a limit of 20 connections
        let limit = AcceptLimit(connections: 20, places: nil)
        limit.begin()
        let (channel, reads) = (EmbeddedChannel(), Reads())
        try channel.pipeline.syncOperations.addHandlers([reads, AcceptBatch(limit, SpareDescriptor {})])
        // When the server reads with room for all of a turn, for three, for one, and for none
        for (opened, length) in [(0, 16), (17, 3), (2, 1), (1, 1)] {
            for _ in 0..<opened { limit.connectionOpened() }
            channel.read()
            // Then a turn accepts no more than that, and one at least
            XCTAssertEqual(Self.length(of: channel), UInt(length))
        }
        XCTAssertFalse(limit.isAcceptingNewConnections())
        // When connections close, then a turn accepts more again
        for _ in 0..<8 { limit.connectionClosed() }
        channel.read()
        XCTAssertEqual(Self.length(of: channel), 8)
        XCTAssertEqual(reads.count, 5)
    }

    func testThatIdleConnectionsAreClosedWhenASixteenthIsLeft() {
        // Given a limit of 1024 connections
        let asked = Mutex<[Int]>([])
        let limit = AcceptLimit(connections: 1024, places: nil) { count in asked.withLock { $0.append(count) } }
        limit.begin()
        // When a sixteenth is left, then none is closed
        for _ in 0..<960 { limit.connectionOpened() }
        XCTAssertTrue(limit.isAcceptingNewConnections())
        XCTAssertEqual(asked.withLock { $0 }, [])
        // When fewer are left, then a few are closed at a time
        limit.connectionOpened()
        XCTAssertTrue(limit.isAcceptingNewConnections())
        XCTAssertEqual(asked.withLock { $0 }, [16])
    }

    private static func length(of channel: EmbeddedChannel) -> UInt? {
        channel.options.lazy.compactMap { $0.option is ChannelOptions.Types.MaxMessagesPerReadOption ? $0.value as? UInt : nil }
            .first
    }

    /// Counts reads.
    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = Never
        var count = 0
        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }
}
