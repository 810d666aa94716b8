import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetPipeline
import OnesheetTesting
import XCTest

@testable import OnesheetCluster

/// A test of servers with one store and one coordinator, each with its own state and cache.
class DecisionServersTestCase: XCTestCase {
    let store = FakeObjectStore()
    let coordinator = FakeCoordinator()
    let log = LogRecorder()
    let title = TitleReference(source: "films", id: "a 기생충")
    let other = TitleReference(source: "films", id: "b")
    let hash = PerceptualHash(bits: 0xFFFF)

    func values() -> SharedValues {
        SharedValues(SharedTier(store, SharedSettings(prefix: "servers"), clock: ManualClock().wallClock), logger: log.logger)
    }

    func state() throws -> StateStore { try StateStore() }

    /// A server that follows the others.
    /// - Parameter before: an earlier run of the same server.
    func member(_ before: DecisionMember? = nil, state: StateStore? = nil, waits: Bool = true) async throws -> DecisionMember {
        let member = try DecisionMember(
            state: state ?? before?.state ?? self.state(), memory: before?.memory, store: store, coordinator: coordinator,
            logger: log.logger)
        member.follower.start()
        addTeardownBlock { await member.stop() }
        let isUpToDate = await member.follower.catchUp(within: .seconds(60))
        member.decisions.start()
        guard waits else { return member }
        let isReady = await member.decisions.waitBeforeServing(upTo: .seconds(60))
        XCTAssertEqual([isUpToDate, isReady], [true, true])
        await waitWhile(member.decisions.unread > 0)
        return member
    }
}

/// One server: its choices, its cache, and its way to the others.
struct DecisionMember: Sendable {
    let state: StateStore
    let memory: MemoryTier
    let choices: PosterChoices
    let cache: Cache
    let log: PurgeLog
    let follower: PurgeFollower
    let decisions: SharedDecisions

    init(
        state: StateStore, memory: MemoryTier?, store: FakeObjectStore, coordinator: FakeCoordinator, logger: Logger
    ) throws {
        let clock = ManualClock()
        self.state = state
        let memory = memory ?? MemoryTier(clock: clock.wallClock)
        self.memory = memory
        choices = PosterChoices(state)
        log = PurgeLog(coordinator, state: state.part("purges"), logger: logger)
        cache = Cache(memory: memory, cluster: ServerCluster(shared: nil, purges: log), logger: logger)
        let tier = SharedTier(store, SharedSettings(prefix: "servers"), clock: clock.wallClock)
        decisions = SharedDecisions(
            SharedValues(tier, logger: logger), choices: choices, cache: cache, isToldOfChanges: true, pause: .milliseconds(10),
            logger: logger)
        follower = PurgeFollower(log, cache: cache, decisions: decisions, pause: .milliseconds(10))
    }

    func stop() async {
        await decisions.shutdown()
        await follower.shutdown()
    }

    func decide(_ title: TitleReference, _ body: @escaping @Sendable (inout PosterDecision) throws -> Void) async throws {
        _ = try await decisions.decide(ImageReference(title), body)
        try await tell(title)
    }

    func tell(_ title: TitleReference) async throws {
        _ = try await cache.purge(
            [.tag(.title(title))], on: .allServers(notices: [DecisionNotice.poster(ImageReference(title)).tag])
        ).finished()
    }

    func block(_ hash: PerceptualHash) async throws {
        try await decisions.setBlocked(true, for: hash)
        _ = try await cache.purge([.tag(.picture(hash))], on: .allServers(notices: [DecisionNotice.blocked.tag]))
    }

    func decision(_ title: TitleReference) async throws -> PosterDecision {
        try await choices.choice(of: ImageReference(title)).decision
    }

    func waits(for title: TitleReference, until condition: @Sendable (PosterDecision) -> Bool, line: UInt = #line) async {
        await waits("the decision does not come", line) { condition(try await decision(title)) }
    }

    func waits(forBlocked hashes: Set<UInt64>, line: UInt = #line) async {
        await waits("the list does not come", line) { Set(try await choices.blocked().map(\.bits)) == hashes }
    }

    private func waits(_ failure: String, _ line: UInt, until condition: () async throws -> Bool) async {
        let end = ContinuousClock.now + .seconds(60)
        do {
            while try await !condition() {
                guard ContinuousClock.now < end else { return XCTFail(failure, line: line) }
                try await Task.sleep(for: .milliseconds(1))
            }
        } catch {
            XCTFail("\(error)", line: line)
        }
    }

    func store(_ name: String, _ title: TitleReference) async {
        await cache.store(.sample(name, at: ManualClock(), tags: [.title(title)]), for: CacheKey(.variant, name))
    }

    func has(_ name: String) -> Bool { cache.memory.entryNow(for: CacheKey(.variant, name)) != nil }
}
