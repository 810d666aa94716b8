import NIOCore
import NIOEmbedded
import OnesheetCore
import OnesheetPipeline
import Synchronization
import XCTest

@testable import OnesheetServer

final class AcceptLimitTests: XCTestCase {
    func testThatThereAreNoMoreConnectionsThanAllowed() {
        let limit = AcceptLimit(connections: 2, places: nil)
        limit.connectionOpened()
        XCTAssertTrue(limit.isAcceptingNewConnections())
        limit.connectionOpened()
        XCTAssertFalse(limit.isAcceptingNewConnections())
        limit.connectionClosed()
        XCTAssertTrue(limit.isAcceptingNewConnections())
    }

    func testThatRefusedConnectionsDoNotDelayOthers() throws {
        // Given 64 places for connections with TLS, and an address that has all that it may have
        let places = MemoryShare.encryptedConnections(of: MemoryBudget(limit: 1))
        let limit = AcceptLimit(connections: 8192, places: places)
        let greedy = ClientAddress(try XCTUnwrap(IPAddress("192.0.2.1")))
        var open: [MemoryShare.Place] = []
        while let place = places.admit(greedy) {
            limit.connectionOpened()
            open.append(place)
        }
        XCTAssertEqual(open.count, 32)
        // When it opens another connection for each place, and none of them is closed yet
        var refused: [MemoryShare.Refusal] = []
        for _ in 0..<64 {
            XCTAssertTrue(limit.isAcceptingNewConnections())
            limit.connectionOpened()
            XCTAssertNil(places.admit(greedy))
            refused.append(places.refuse())
        }
        // Then others are accepted for the places that are left, and not more of them
        XCTAssertEqual(limit.room, 32)
        let honest = ClientAddress(try XCTUnwrap(IPAddress("192.0.2.2")))
        XCTAssertNotNil(places.admit(honest))
        // And connections are not refused without end before one is closed
        for _ in 0..<AcceptLimit.mostRefused { limit.connectionOpened() }
        XCTAssertFalse(limit.isAcceptingNewConnections())
        withExtendedLifetime((open, refused)) {}
    }

    func testThatAConnectionThatHasNoPlaceYetCountsAtOnce() throws {
        // Given one place less than there are, taken
        let places = MemoryShare.encryptedConnections(of: MemoryBudget(limit: 1))
        let limit = AcceptLimit(connections: 8192, places: places)
        let open = try (1..<64).map { number in
            limit.connectionOpened()
            return places.admit(ClientAddress(try XCTUnwrap(IPAddress("192.0.2.\(number)"))))
        }
        XCTAssertTrue(limit.isAcceptingNewConnections())
        // When a connection is accepted that is still to get the last one, then the next one waits
        limit.connectionOpened()
        XCTAssertFalse(limit.isAcceptingNewConnections())
        withExtendedLifetime(open) {}
    }

    func testThatConnectionsWaitIfAllPlacesAreTaken() throws {
        // Given connections from many addresses, which take all places
        let places = MemoryShare.encryptedConnections(of: MemoryBudget(limit: 1))
        let limit = AcceptLimit(connections: 8192, places: places)
        let open = try (1...64).map { number in
            limit.connectionOpened()
            return places.admit(ClientAddress(try XCTUnwrap(IPAddress("192.0.2.\(number)"))))
        }
        XCTAssertFalse(open.contains { $0 == nil })
        // When another one comes, then it waits until one of them is closed
        XCTAssertFalse(limit.isAcceptingNewConnections())
        // The server may notice that before the place is free.
        limit.connectionClosed()
        XCTAssertTrue(limit.isAcceptingNewConnections())
        withExtendedLifetime(open) {}
    }

    func testThatATurnAcceptsAsManyConnectionsAsThereIsRoomFor() throws {
        // Given a limit of 20 connections
        let limit = AcceptLimit(connections: 20, places: nil)
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
