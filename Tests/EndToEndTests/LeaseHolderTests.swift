import Foundation
import OnesheetTesting
import XCTest

/// A server that dies while it fetches for all.
final class LeaseHolderTests: ClusterTestCase {
    func testThatAnotherServerTakesOverFromAKilledOne() async throws {
        // Given two servers, and an origin that holds its answers back
        let (coordinator, store) = (try coordinator(), try await store(.weed))
        let picture = try poster(width: 60, height: 90)
        let gates = (0..<10).map { _ in Gate() }
        let origin = try await origin { target in
            guard let number = Int(target.dropFirst(1)), gates.indices.contains(number) else { return .answer(status: 404) }
            return .held(gates[number], picture)
        }
        let first = try await member("first", origin, store: store.port, coordinator: coordinator.port)
        let second = try await member("second", origin, store: store.port, coordinator: coordinator.port)
        for (number, gate) in gates.enumerated() {
            // When one of them fetches a picture, for which the other one waits
            let path = path(origin, "\(number)", width: 40)
            let waited = try await second.metric("lease_waited_total")
            async let lost = try? first.ask(path)
            await waitWhile(gate.arrived == 0)
            async let answer = second.ask(path)
            try await eventually {
                if gate.arrived > 1 { return true }
                return try await second.metric("lease_waited_total") > waited
            }
            guard gate.arrived == 1 else {
                // On a machine that has much else to do, Redis seems to be absent for a moment, and each fetches alone.
                gate.open()
                _ = (await lost, try await answer)
                continue
            }
            // And the one that fetches is killed
            first.kill()
            let killed = ContinuousClock.now
            // Then the other one fetches when the lease has ended, which is after five seconds, and its client gets the picture
            await waitWhile(gate.arrived == 1)
            XCTAssertLessThan(ContinuousClock.now - killed, .seconds(15))
            gate.open()
            let (taken, none) = (try await answer, await lost)
            XCTAssertEqual(taken.status, 200, taken.text)
            XCTAssertEqual(taken.size, [40, 60])
            XCTAssertNil(none)
            XCTAssertEqual(origin.requests(for: "/\(number)"), 2)
            // And the one that was killed finds it in the store when it is back
            try await untilStored([second])
            let back = try await member("first", origin, store: store.port, coordinator: coordinator.port)
            let found = try await back.ask(path)
            XCTAssertEqual(found.entityTag, taken.entityTag)
            XCTAssertEqual(origin.requests(for: "/\(number)"), 2)
            return
        }
        XCTFail("in \(gates.count) attempts, no server waited for the other one")
    }
}
