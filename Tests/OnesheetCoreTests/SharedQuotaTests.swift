import FoundationEssentials
import OnesheetCore
import OnesheetTesting
import XCTest

/// One quota that several servers spend, each with a state of its own.
final class SharedQuotaTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var coordinator = FakeCoordinator(clock: clock)

    func testThatThreeServersMakeExactlyTheCallsThatThereAre() async {
        for perDay in [7, 500] {
            // Given three servers with one quota
            let servers = (0..<3).map { _ in quota(perDay, counter: "\(perDay)") }
            // When all make all calls that they can at once
            let made = await withTaskGroup(of: Int.self) { group in
                for server in servers { group.addTask { await Self.spend(server, as: .interactive) } }
                return await group.reduce(0, +)
            }
            // Then they make the calls of the day together
            XCTAssertEqual(made, perDay)
        }
    }

    func testThatPrefetchingLeavesTheReserveOnEveryServer() async {
        let servers = (0..<2).map { _ in quota(20) }
        let prefetched = [await Self.spend(servers[0], as: .prefetch), await Self.spend(servers[1], as: .prefetch)]
        let asked = await Self.spend(servers[1], as: .interactive)
        XCTAssertEqual(prefetched, [18, 0])
        XCTAssertEqual(asked, 2)
    }

    func testThatWithoutTheCoordinatorAServerSpendsWhatItHasSetAside() async {
        // Given a server that has made a call, and another that has not
        let states = [InMemoryState(), InMemoryState()]
        let servers = states.map { quota(500, state: $0) }
        let first = await Self.error(servers[0])
        XCTAssertNil(first)
        // When the coordinator is down
        coordinator.isUnreachable = true
        let prefetched = await Self.spend(servers[0], as: .prefetch)
        let restarted = quota(500, state: states[0])
        let asked = await Self.spend(servers[0], as: .interactive, most: 3) + Self.spend(restarted, as: .interactive)
        let other = await Self.error(servers[1])
        // Then the first has a hundredth left for people, also after a restart, and the other refuses
        XCTAssertEqual(prefetched, 0)
        XCTAssertEqual(asked, 5)
        XCTAssertEqual(other, .quotaExhausted(until: clock.now.timeIntervalSince1970 + 10))
        // And no call is made twice when it is back
        coordinator.isUnreachable = false
        let rest = await Self.spend(servers[1], as: .interactive)
        XCTAssertEqual(rest + 1 + 5, 500)
    }

    func testThatALostCounterIsBroughtUpToWhatIsKnown() async {
        // Given two servers that have made calls
        let servers = (0..<2).map { _ in quota(50) }
        let made = await Self.spend(servers[0], as: .interactive, most: 20) + Self.spend(servers[1], as: .interactive, most: 10)
        // When the coordinator forgets
        coordinator.forgetEverything()
        let more = await Self.spend(servers[1], as: .interactive) + Self.spend(servers[0], as: .interactive)
        // Then no more calls are made than there are
        XCTAssertEqual(made + more, 50)
    }

    func testThatALostCounterIsBroughtUpOnlyByWhatIsMissing() async {
        // Given three servers that have made 70 calls one after the other, each of which knows more than the one before
        let servers = (0..<3).map { _ in quota(99) }
        for (server, calls) in zip(servers, [30, 20, 20]) { _ = await Self.spend(server, as: .interactive, most: calls) }
        // When the coordinator forgets, and the one that knows least counts first
        coordinator.forgetEverything()
        for server in servers { _ = await Self.spend(server, as: .interactive, most: 1) }
        // Then what the others know is not added on top of it
        let rest = await Self.spend(servers[0], as: .interactive)
        XCTAssertGreaterThanOrEqual(rest, 99 - 70 - 3)
    }

    func testThatALostCounterIsBroughtUpOnceByManyCalls() async {
        // Given a server that has made 70 calls of 99
        let server = quota(99)
        _ = await Self.spend(server, as: .interactive, most: 70)
        // When the coordinator forgets, and ten calls are made at once
        coordinator.forgetEverything()
        let made = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { await Self.spend(server, as: .interactive, most: 1) } }
            return await group.reduce(0, +)
        }
        // Then exactly the calls of the day were made
        let rest = await Self.spend(server, as: .interactive)
        XCTAssertEqual(70 + made + rest, 99)
    }

    func testThatTheNextDayHasItsOwnCalls() async {
        let quota = quota(3)
        let today = await Self.spend(quota, as: .interactive)
        clock.advance(by: .seconds(86_400))
        let tomorrow = await Self.spend(quota, as: .interactive)
        XCTAssertEqual([today, tomorrow], [3, 3])
    }

    func testThatTheReportHasTheCallsOfAllServers() async {
        let servers = (0..<2).map { _ in quota(20) }
        for server in servers { _ = await Self.spend(server, as: .interactive, most: 4) }
        let report = await servers[0].report()
        XCTAssertEqual(report.spent, 8)
    }

    func testThatAStateThatCannotBeWrittenCostsNoExactness() async {
        let state = InMemoryState()
        state.fail("the disk is full")
        let made = await Self.spend(quota(300, state: state), as: .interactive) + Self.spend(quota(300), as: .interactive)
        XCTAssertEqual(made, 300)
    }

    private func quota(_ perDay: Int, counter: String = "films", state: InMemoryState = InMemoryState()) -> DailyQuota {
        var context = PluginContext.forTesting(clock: clock, state: state)
        context.counters = SharedCounters(coordinator, prefix: "\(counter)/")
        return DailyQuota(QuotaSettings(perDay: perDay), secondsFromGMT: 0, context: context)
    }

    /// The calls that remain for this urgency.
    private static func spend(_ quota: DailyQuota, as urgency: Urgency, most: Int = .max) async -> Int {
        await WorkContext.with({ $0.urgency = urgency }) {
            var count = 0
            while count < most, await error(quota) == nil { count += 1 }
            return count
        }
    }

    private static func error(_ quota: DailyQuota) async -> SourceError? {
        do throws(SourceError) {
            try await quota.spend()
            return nil
        } catch {
            return error
        }
    }
}
