import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// Purges of servers that together have to get over a lost log, a tier that fails, or an engine that answers too late.
final class PurgeTroubleTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var coordinator = FakeCoordinator(clock: clock)
    private let one = CacheTag.source("one")
    private let two = CacheTag.source("two")

    func testThatALossIsToldOnceHoweverLateAServerNoticesIt() async throws {
        // Given a server that is away while two others notice that the log is lost
        let (first, second, away) = (try await server(), try await server(), try await server())
        _ = try await first.cache.purge([.tag(two)])
        for server in [first, second, away] { await server.hasApplied(first) }
        try await stop([away])
        let lost = first.log.now.epoch
        clock.advance(by: .seconds(2))
        coordinator.forgetEverything()
        for server in [first, second] { await waitWhile(server.log.now.epoch == lost || server.isUnsure) }
        for server in [first, second] { await server.hasApplied(server) }
        for server in [first, second] { await server.store("a", [one]) }
        let (stamp, records) = (first.log.now, coordinator.records(of: PurgeLog.name))
        // When it comes back, and purges something else
        let back = try await server(folder: away.folder)
        _ = try await back.cache.purge([.tag(two)])
        for server in [first, second] { await server.hasApplied(back) }
        // Then the others keep what they have made since
        let kept = await [first.finds("a"), second.finds("a")]
        XCTAssertEqual(kept, [true, true])
        XCTAssertEqual(first.log.now.epoch, stamp.epoch)
        XCTAssertFalse(first.log.isPurged(stamp, tags: [one]))
        XCTAssertEqual(coordinator.records(of: PurgeLog.name).count, records.count + 1)
        try await stop([first, second, back])
    }

    func testThatAPositionThatCannotBeReadConcernsNoOtherServer() async throws {
        // Given two servers, one of which has stopped and cannot read how far it was
        let (first, away) = (try await server(), try await server())
        _ = try await first.cache.purge([.tag(two)])
        for server in [first, away] { await server.hasApplied(first) }
        for server in [first, away] { await server.store("a", [one]) }
        try await stop([away])
        try await StateStore(folder: away.folder.path, logger: .silent).part("purges").set("{", for: "applied")
        let records = coordinator.records(of: PurgeLog.name)
        // When it comes back
        let back = try await server(folder: away.folder)
        await back.hasApplied(first)
        // Then it alone has removed everything
        let kept = await [first.finds("a"), back.finds("a")]
        XCTAssertEqual(kept, [true, false])
        XCTAssertEqual(coordinator.records(of: PurgeLog.name), records)
        try await stop([first, back])
    }

    func testThatATierThatCannotRemoveStopsNoOtherPurge() async throws {
        // Given a server with a tier that cannot remove anything
        let tier = BreakableTier()
        let (first, second) = (try await server(), try await server(further: tier))
        let before = second.log.now
        for name in ["a", "b"] { await second.store(name, [CacheTag(name)]) }
        tier.isBroken = true
        // When another server purges, twice
        _ = try await first.cache.purge([.tag(CacheTag("a"))])
        await waitWhile(second.hasInMemory("a"))
        _ = try await first.cache.purge([.tag(CacheTag("b"))])
        // Then both are done in the other tiers, and shared entries of before are invalid, but nothing counts as applied
        await waitWhile(second.hasInMemory("b"))
        XCTAssertTrue(second.log.isPurged(before, tags: [CacheTag("b")]))
        XCTAssertEqual(second.log.now, before)
        XCTAssertEqual(second.log.metrics.received, 0)
        // And both are once the tier works again
        tier.isBroken = false
        await second.hasApplied(first)
        XCTAssertEqual(second.log.metrics.received, 2)
        try await stop([first, second])
    }

    func testThatPurgesThatCannotBeSentStopNoReading() async throws {
        // Given a server whose records arrive without its knowing: the engine waits in vain for a replica
        let deaf = DeafCoordinator(coordinator)
        let (first, second) = (try await server(coordinator: deaf), try await server())
        await first.store("a", [one])
        deaf.isDeaf = true
        let purge = try await first.cache.purge([.tag(two)])
        XCTAssertEqual(purge.rest, .unannounced)
        await waitWhile(advancing(coordinator.records(of: PurgeLog.name).count < 3))
        // When another server purges
        _ = try await second.cache.purge([.tag(one)])
        // Then this one does so too
        await waitWhile(first.hasInMemory("a"))
        XCTAssertEqual(first.log.metrics.outbox, 1)
        // And it tells of its own purge when the engine answers again
        deaf.isDeaf = false
        await waitWhile(first.log.metrics.outbox > 0)
        try await stop([first, second])
    }

    func testThatAPurgeThatOnlyTheSharedStoreFailsIsDoneAndToldOnce() async throws {
        // Given two servers whose shared store can delete nothing
        let store = FakeObjectStore()
        let (first, second) = (try await server(store: store), try await server(store: store))
        let stamp = second.log.now
        await second.store("a", [one])
        store.change { $0.failure = .unreachable(operation: "list", reason: "it is off") }
        // When one purges
        let purge = try await first.cache.purge([.tag(one)])
        XCTAssertEqual(purge.rest, .undeleted)
        // Then all have done so, and nobody takes an object of before
        await second.hasApplied(first)
        let isThere = await second.finds("a")
        XCTAssertFalse(isThere)
        for server in [first, second] { XCTAssertTrue(server.log.isPurged(stamp, tags: [one])) }
        let records = coordinator.records(of: PurgeLog.name)
        XCTAssertEqual(records.map { PurgeRecord($0).process }, [first.log.process], "it does not do it again")
        // And another attempt tells nobody
        let again = try await first.cache.purge([.tag(one)], on: .allServersAgain)
        XCTAssertEqual(again.rest, .undeleted)
        XCTAssertEqual(coordinator.records(of: PurgeLog.name), records)
        try await stop([first, second])
    }

    func testThatAPurgeThatATierHereFailsIsToldAndRepeatedHereOnly() async throws {
        let tier = BreakableTier()
        let server = try await server(further: tier)
        tier.isBroken = true
        for attempt in 0..<3 {
            do {
                _ = try await server.cache.purge([.tag(one)], on: attempt == 0 ? .allServers() : .allServersAgain)
                XCTFail("the tier is broken")
            } catch {
                XCTAssertEqual(error, BreakableTier.failure)
            }
        }
        XCTAssertEqual(coordinator.records(of: PurgeLog.name).map { PurgeRecord($0).process }, [""])
        tier.isBroken = false
        _ = try await server.cache.purge([.tag(one)], on: .allServersAgain)
        await server.hasApplied(server)
        try await stop([server])
    }

    func testThatAPurgeIsRetriedUntilItSucceedsAndToldOnce() async throws {
        // Given a server with a broken tier
        let tier = BreakableTier()
        let server = try await server(further: tier)
        await server.store("a", [one])
        tier.isBroken = true
        // When a purge is retried, and the tier is mended after the second attempt
        var failures: [CacheError] = []
        try await server.cache.purgeRetrying([.tag(one)], pause: .zero) { error in
            failures.append(error)
            if failures.count == 2 { tier.isBroken = false }
        }
        // Then the third succeeds, and only the first has told the others
        XCTAssertEqual(failures, [BreakableTier.failure, BreakableTier.failure])
        XCTAssertEqual(coordinator.records(of: PurgeLog.name).count, 1)
        let isThere = await server.finds("a")
        XCTAssertFalse(isThere)
        await server.hasApplied(server)
        try await stop([server])
    }

    func testThatAPurgeThatOthersLearnLaterIsNotRetried() async throws {
        // Given a server that does not know that its records arrive
        let deaf = DeafCoordinator(coordinator)
        let server = try await server(coordinator: deaf)
        deaf.isDeaf = true
        // When it purges
        try await server.cache.purgeRetrying([.tag(one)], pause: .zero) { XCTFail("\($0)") }
        // Then the purge waits for its sending
        XCTAssertEqual(server.log.metrics.outbox, 1)
        try await stop([server])
    }

    func testThatTheSharedStoreLosesWhatTheDiskRefusesAfterAPurgeByAnotherProcess() async throws {
        // Given a server without a coordinator, and work that has begun
        let (store, folder, key) = (FakeObjectStore(), try temporaryDirectory(), CacheKey(.original, "sample://1"))
        let disk = try DiskTier(path: folder.path, clock: clock.wallClock)
        let shared = SharedTier(store, SharedSettings(prefix: "onesheet"), clock: clock.wallClock)
        let cache = Cache(
            memory: MemoryTier(bytes: 1 << 20, clock: clock.wallClock), disk: disk,
            cluster: ServerCluster(shared: shared, purges: nil), logger: .silent)
        let generation = await cache.generation()
        // When another process purges, of which the store does not tell, and the work ends
        let other = try DiskTier(path: folder.path, clock: clock.wallClock)
        _ = try await other.raiseGeneration()
        await cache.store(.sample("old", at: clock, tags: [one]), for: key, ifGeneration: generation)
        await cache.finishStoring()
        await shared.flush()
        // Then no tier has its result
        let isThere = await cache.contains(key)
        XCTAssertFalse(isThere)
        let writes = store.calls(.put)
        // And once the server has noticed the purge, later results of such work do not get there
        await cache.invalidations.check()
        await cache.store(.sample("older", at: clock, tags: [one]), for: key, ifGeneration: generation)
        await cache.finishStoring()
        await shared.flush()
        XCTAssertEqual(store.calls(.put), writes)
        // And what waits for the store when it notices another does not get there either
        let gate = Gate()
        store.change { $0.gate = gate }
        let later = (0..<20).map { CacheKey(.original, "sample://\($0)") }
        for key in later {
            await cache.store(.sample("later", at: clock, tags: [one]), for: key, ifGeneration: await cache.generation())
        }
        await disk.finishStoring()
        _ = try await other.raiseGeneration()
        async let check: Void = cache.invalidations.check()
        await waitWhile(shared.metrics.dropped["purged"] == nil)
        gate.open()
        await check
        await shared.flush()
        XCTAssertEqual(store.names.filter { !$0.contains("/tags/") }, [], "only markers may be left")
        try await disk.close()
        try await other.close()
    }

    // MARK: Servers

    private func server(
        folder: TemporaryDirectory? = nil, coordinator: (any Coordinator)? = nil,
        further: (any CacheTier)? = nil, store: (any ObjectStore)? = nil
    ) async throws -> ServerWithLog {
        let server = try ServerWithLog(
            folder: try folder ?? temporaryDirectory(), coordinator: coordinator ?? self.coordinator, clock: clock, logger: .silent,
            further: further, store: store)
        server.follower.start()
        let isUpToDate = await server.follower.catchUp(within: .seconds(60))
        XCTAssertTrue(isUpToDate)
        await waitWhile(server.isUnsure)
        return server
    }

    /// Ends what waits for a record.
    private func advancing(_ condition: Bool) -> Bool {
        clock.advance(by: .seconds(1))
        return condition
    }

    private func stop(_ servers: [ServerWithLog]) async throws {
        for server in servers {
            await server.follower.shutdown()
            try await server.disk.close()
        }
    }
}

/// An empty tier that cannot remove anything while it is broken.
private final class BreakableTier: CacheTier {
    static let failure = CacheError.tier(operation: "remove", reason: "it is broken")

    private let state = Mutex(false)
    var isBroken: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    let name = "breakable"
    func entry(for key: CacheKey) async -> CacheEntry? { nil }
    func contains(_ key: CacheKey) async -> Bool { false }
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async -> Bool { true }
    func generation() async -> Int { 0 }
    func raiseGeneration() async -> Int { 0 }
    func remove(_ key: CacheKey) async throws(CacheError) { if isBroken { throw Self.failure } }
    func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval {
        if isBroken { throw Self.failure }
        return CacheRemoval()
    }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async {}
    func statistics() async -> CacheStatistics { CacheStatistics() }
}

/// A coordinator whose records arrive, and which says that they have not while it is deaf.
private final class DeafCoordinator: Coordinator {
    private let coordinator: FakeCoordinator
    private let state = Mutex(false)

    init(_ coordinator: FakeCoordinator) { self.coordinator = coordinator }

    var isDeaf: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition {
        let position = try await coordinator.append(record, to: log)
        if isDeaf { throw .failed(operation: "append", reason: "no replica has it in time") }
        return position
    }

    func read(
        _ log: String, after position: LogPosition?, of epoch: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        try await coordinator.read(log, after: position, of: epoch, limit: limit, waiting: milliseconds)
    }

    func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer {
        try await coordinator.acquire(name, for: holder, milliseconds: milliseconds)
    }
    func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool {
        try await coordinator.renew(name, for: holder, milliseconds: milliseconds)
    }
    func release(_ name: String, for holder: String, doneFor milliseconds: Int) async throws(CoordinatorError) {
        try await coordinator.release(name, for: holder, doneFor: milliseconds)
    }
    func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        try await coordinator.add(amount, to: counter, floor: floor, limit: limit, milliseconds: milliseconds)
    }
    func count(of counter: String) async throws(CoordinatorError) -> Int { try await coordinator.count(of: counter) }
    func probe() async throws(CoordinatorError) -> [String] { try await coordinator.probe() }
}
