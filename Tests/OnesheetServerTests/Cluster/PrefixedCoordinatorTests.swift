import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

final class PrefixedCoordinatorTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var engine = FakeCoordinator(clock: clock)

    func testThatItDoesWhatEveryCoordinatorHasToDo() async {
        let (first, second) = (PrefixedCoordinator(engine, prefix: "posters"), PrefixedCoordinator(engine, prefix: "posters"))

        let report = await CoordinatorConformance(
            first, second, engine: .init(pass: { [clock] in clock.advance(by: .milliseconds($0)) })
        ).run()

        XCTAssertTrue(report.failures.isEmpty, report.description)
    }

    func testThatInstallationsWithOneEngineAreApart() async throws {
        // Given
        let one = PrefixedCoordinator(engine, prefix: "one")
        // When
        _ = try await one.append("purge", to: "log")
        _ = try await one.add(1, to: "count", limit: 1, milliseconds: 60_000)
        _ = try await one.acquire("work", for: "a", milliseconds: 60_000)
        // Then
        XCTAssertEqual(engine.records(of: "one/log"), ["purge"])
        XCTAssertTrue(engine.isHeld("one/work"))
        for other in [PrefixedCoordinator(engine, prefix: "two"), PrefixedCoordinator(engine, prefix: "")] {
            let records = try await other.read("log", after: .start, limit: 10, waiting: 0).records
            XCTAssertEqual(records, [])
            let count = try await other.count(of: "count")
            XCTAssertEqual(count, 0)
            guard case .granted = try await other.acquire("work", for: "b", milliseconds: 60_000) else {
                return XCTFail("the lease of another installation is in the way")
            }
        }
    }
}
