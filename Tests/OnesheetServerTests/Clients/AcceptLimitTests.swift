import OnesheetCore
import OnesheetPipeline
import XCTest

@testable import OnesheetServer

final class AcceptLimitTests: XCTestCase {
    func testThatThereAreNoMoreConnectionsThanAllowed() {
        var limit = AcceptLimit(connections: 2, places: nil)
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
        var limit = AcceptLimit(connections: 8192, places: places)
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
        // Then another address is accepted and gets a place
        XCTAssertTrue(limit.isAcceptingNewConnections())
        let honest = ClientAddress(try XCTUnwrap(IPAddress("192.0.2.2")))
        XCTAssertNotNil(places.admit(honest))
        // And connections are not refused without end before one is closed
        for _ in 0..<AcceptLimit.refused { limit.connectionOpened() }
        XCTAssertFalse(limit.isAcceptingNewConnections())
        withExtendedLifetime((open, refused)) {}
    }

    func testThatAConnectionThatHasNoPlaceYetCountsAtOnce() throws {
        // Given one place less than there are, taken
        let places = MemoryShare.encryptedConnections(of: MemoryBudget(limit: 1))
        var limit = AcceptLimit(connections: 8192, places: places)
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
        var limit = AcceptLimit(connections: 8192, places: places)
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
}
