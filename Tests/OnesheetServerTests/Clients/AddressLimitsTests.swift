import OnesheetAddress
import OnesheetCore
import XCTest

@testable import OnesheetServer

final class AddressLimitsTests: XCTestCase {
    private let start = ContinuousClock.now
    private var limits: ClientsConfiguration.PerAddress {
        var limits = ClientsConfiguration.PerAddress()
        (limits.connections, limits.misses, limits.burst) = (2, 0.5, 3)
        return limits
    }

    func testThatMissesComeAtOnceAndThenAtTheirRate() throws {
        // Given an address that has used all its misses
        let limiter = AddressLimits(limits, now: start)
        let address = try address("192.0.2.1")
        for _ in 0..<3 { XCTAssertNil(limiter.miss(address, at: start)) }
        // When it requests more, then it gets a time for a retry
        XCTAssertEqual(limiter.miss(address, at: start), 2)
        XCTAssertEqual(limiter.miss(address, at: start + .seconds(1)), 1)
        XCTAssertNil(limiter.miss(address, at: start + .seconds(2)))
        XCTAssertNotNil(limiter.miss(address, at: start + .seconds(2)))
        // And other addresses are not affected
        XCTAssertNil(limiter.miss(try self.address("192.0.2.2"), at: start))
    }

    func testThatConnectionsAreCountedAndGivenBack() throws {
        let limiter = AddressLimits(limits, now: start)
        let address = try address("192.0.2.1")
        XCTAssertTrue(limiter.connect(address, at: start))
        XCTAssertTrue(limiter.connect(address, at: start))
        XCTAssertFalse(limiter.connect(address, at: start))
        limiter.disconnect(address)
        XCTAssertTrue(limiter.connect(address, at: start))
    }

    func testThatConnectionsBeyondTheTableAreGivenBackAfterItHasRoom() throws {
        // Given a table that busy addresses fill, and connections of two others, which share one limit
        let limiter = AddressLimits(limits, maxAddresses: 2, now: start)
        let busy = [try address("192.0.2.1"), try address("192.0.2.2")]
        let others = [try address("192.0.2.3"), try address("192.0.2.4")]
        for address in busy + others { XCTAssertTrue(limiter.connect(address, at: start)) }
        XCTAssertFalse(limiter.connect(try address("192.0.2.5"), at: start))
        // When the table has room, and one of the others has an entry of its own, before their connections end
        for address in busy { limiter.disconnect(address) }
        XCTAssertNil(limiter.miss(others[0], at: start + .seconds(2)))
        for address in others { limiter.disconnect(address) }
        // Then they have given back what they took of the shared limit
        for address in busy { XCTAssertTrue(limiter.connect(address, at: start + .seconds(20))) }
        for _ in 0..<2 { XCTAssertTrue(limiter.connect(try address("192.0.2.6"), at: start + .seconds(20))) }
        XCTAssertFalse(limiter.connect(try address("192.0.2.7"), at: start + .seconds(20)))
    }

    func testThatNoLimitIsNone() throws {
        var limits = limits
        (limits.connections, limits.misses) = (0, 0)
        let limiter = AddressLimits(limits, now: start)
        let address = try address("192.0.2.1")
        for _ in 0..<1000 {
            XCTAssertTrue(limiter.connect(address, at: start))
            XCTAssertNil(limiter.miss(address, at: start))
        }
    }

    func testThatTheMemoryForAddressesIsBoundedAndForgetsNoDebts() throws {
        // Given an address without a miss left, and more addresses than are remembered
        let limiter = AddressLimits(limits, maxAddresses: 100, now: start)
        let debtor = try address("192.0.2.1")
        for _ in 0..<3 { _ = limiter.miss(debtor, at: start) }
        var refused = 0
        for index in 0..<1000 where limiter.miss(try address("10.0.\(index / 250).\(index % 250)"), at: start) != nil {
            refused += 1
        }
        // Then 99 are remembered, those beyond share one limit of three, and the first is still known
        XCTAssertEqual(refused, 1000 - 99 - 3)
        XCTAssertNotNil(limiter.miss(debtor, at: start))
        // And after some time there is room again: new addresses share no limit
        for index in 1...10 {
            XCTAssertNil(limiter.miss(try address("198.51.100.\(index)"), at: start + .seconds(60)))
        }
    }

    private func address(_ text: String) throws -> ClientAddress { ClientAddress(try XCTUnwrap(IPAddress(text))) }
}
