import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// Servers with one coordinator. Each has its own disk and state.
final class PurgeLogTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var coordinator = FakeCoordinator(clock: clock)
    private let one = CacheTag.source("one")
    private let two = CacheTag.source("two")

    // MARK: Purges of others

    func testThatAPurgeOnOneServerIsDoneByTheOthers() async throws {
        for selection in [CacheSelection.all, .tag(one)] {
            // Given two servers with a poster of each of two sources
            let (first, second) = (try await server(), try await server())
            for server in [first, second] {
                await server.store("a", [one])
                await server.store("b", [two])
            }
            let received = [first, second].map(\.log.metrics.received)
            // When one of them purges
            _ = try await first.cache.purge([selection])
            // Then the other one does so too, in memory and on the disk, and nothing else
            await waitWhile(second.hasInMemory("a"))
            await second.hasApplied(first)
            let left = await [second.finds("a"), second.finds("b"), first.finds("a"), first.finds("b")]
            XCTAssertEqual(left, selection == .all ? [false, false, false, false] : [false, true, false, true])
            XCTAssertEqual([first, second].map(\.log.metrics.received), [received[0], received[1] + 1], "its own is not repeated")
            try await stop([first, second])
        }
    }

    func testThatExpiredEntriesAreEachServersOwnMatter() async throws {
        let server = try await server()
        _ = try await server.cache.purge([.expired])
        XCTAssertEqual(coordinator.records(of: PurgeLog.name), [])
        try await stop([server])
    }

    func testThatAServerThatWasAwayAppliesWhatItMissedBeforeItServes() async throws {
        // Given a server that has stopped, and a purge meanwhile
        let (first, away) = (try await server(), try await server())
        await away.store("a", [one])
        await away.store("b", [two])
        try await stop([away])
        _ = try await first.cache.purge([.tag(one)])
        // When it starts again
        let back = try await server(folder: away.folder)
        // Then it has applied the purge as soon as it serves
        let left = await [back.finds("a"), back.finds("b")]
        XCTAssertEqual(left, [false, true])
        try await stop([first, back])
    }

    func testThatAStartWithoutAnythingMissedRemovesNothing() async throws {
        // Given a server that has applied purges before it stored an entry
        let server = try await server()
        for _ in 0..<3 { _ = try await server.cache.purge([.all]) }
        await server.hasApplied(server)
        await server.store("a", [one])
        try await stop([server])
        // When it starts again
        let back = try await self.server(folder: server.folder)
        await waitWhile(back.isUnsure)
        // Then the entry is there, and older purges are known
        let isThere = await back.finds("a")
        XCTAssertTrue(isThere)
        XCTAssertEqual(back.log.metrics.received, 0)
        XCTAssertTrue(back.log.isPurged(nil, tags: [two]))
        XCTAssertFalse(back.log.isPurged(back.log.now, tags: [two]))
        try await stop([back])
    }

    // MARK: Stamps

    func testThatAnEntryOfBeforeAPurgeIsInvalidOnEveryServer() async throws {
        // Given two servers, and an entry that one began to make
        let (first, second) = (try await server(), try await server())
        let stamp = first.log.now
        for server in [first, second] { XCTAssertFalse(server.log.isPurged(stamp, tags: [one])) }
        // When the other one purges its tag
        _ = try await second.cache.purge([.tag(one)])
        await first.hasApplied(second)
        await second.hasApplied(second)
        // Then neither takes it, and both take entries of other tags and later ones
        for server in [first, second] {
            XCTAssertTrue(server.log.isPurged(stamp, tags: [two, one]))
            XCTAssertTrue(server.log.isPurged(nil, tags: [one]), "made when there was no log")
            XCTAssertFalse(server.log.isPurged(stamp, tags: [two]))
            XCTAssertFalse(server.log.isPurged(first.log.now, tags: [one]))
        }
        try await stop([first, second])
    }

    func testThatNothingOlderIsFoundFromTheBeginningOfAPurge() async throws {
        let server = try await server()
        let now = server.log.now
        // When a purge is under way, and then in the log
        let isAnnounced = await server.log.announcing([.tag(one)]) { [one, two] in
            XCTAssertTrue(server.log.isPurged(now, tags: [one]))
            XCTAssertFalse(server.log.isPurged(now, tags: [two]))
            return true
        }
        // Then entries of its tag are invalid from the beginning on, until they are made again
        XCTAssertTrue(isAnnounced)
        XCTAssertTrue(server.log.isPurged(now, tags: [one]))
        await server.hasApplied(server)
        XCTAssertFalse(server.log.isPurged(server.log.now, tags: [one]))
        try await stop([server])
    }

    func testThatNoForeignEntryIsTrustedBeforeTheLogWasRead() async throws {
        coordinator.isUnreachable = true
        let server = try await server(waits: false)
        XCTAssertTrue(server.log.isPurged(server.log.now, tags: []))
        coordinator.isUnreachable = false
        await waitWhile(server.isUnsure)
        XCTAssertFalse(server.log.isPurged(server.log.now, tags: []))
        try await stop([server])
    }

    // MARK: A log that is damaged, trimmed or lost

    func testThatAnUnreadableRecordPurgesEverything() async throws {
        let records = [
            "", "{", "null", "[]", "{}", #"{"version":2,"process":"x","tags":["source:two"]}"#,
            #"{"version":1,"process":"x","tags":[]}"#, #"{"version":1,"process":"x","tags":"source:two"}"#,
            String(repeating: "[", count: 100_000), String(repeating: "x", count: 5 << 20),
        ]
        for record in records {
            let server = try await server()
            await server.store("a", [one])
            let received = server.log.metrics.received
            _ = try await coordinator.append(record, to: PurgeLog.name)
            await waitWhile(server.log.metrics.received == received)
            let isThere = await server.finds("a")
            XCTAssertFalse(isThere, String(record.prefix(40)))
            try await stop([server])
        }
    }

    func testThatATrimmedLogCountsAsAPurgeOfEverything() async throws {
        // Given a server that was away while the log was trimmed behind its position
        let (first, away) = (try await server(), try await server())
        _ = try await first.cache.purge([.tag(two)])
        await away.hasApplied(first)
        await away.store("a", [one])
        let stamp = away.log.now
        try await stop([away])
        for _ in 0..<3 { _ = try await first.cache.purge([.tag(two)]) }
        await first.hasApplied(first)
        coordinator.trim(PurgeLog.name, to: 1)
        // When it starts again
        let back = try await server(folder: away.folder)
        await waitWhile(back.isUnsure)
        // Then it has removed everything, and takes no entry of before
        let isThere = await back.finds("a")
        XCTAssertFalse(isThere)
        XCTAssertTrue(back.log.isPurged(stamp, tags: [one]))
        XCTAssertFalse(back.log.isPurged(back.log.now, tags: [one]))
        try await stop([first, back])
    }

    func testThatALogWithNothingLeftIsReadOnce() async throws {
        let first = try await server()
        _ = try await first.cache.purge([.tag(two)])
        try await stop([first])
        _ = try await coordinator.append("x", to: PurgeLog.name)
        coordinator.trim(PurgeLog.name, to: 0)
        let back = try await server(folder: first.folder)
        await waitWhile(back.isUnsure)
        await back.store("a", [one])
        _ = try await coordinator.append(#"{"version":1,"process":"x","tags":["source:two"]}"#, to: PurgeLog.name)
        await waitWhile(back.log.metrics.received == 0)
        let isThere = await back.finds("a")
        XCTAssertTrue(isThere, "it was stored after what was trimmed")
        try await stop([back])
    }

    func testThatALostLogCountsAsAPurgeOfEverything() async throws {
        for isWhole in [true, false] {
            // Given two servers with an entry, and purges in the log
            let (first, second) = (try await server(), try await server())
            _ = try await first.cache.purge([.tag(two)])
            clock.advance(by: .seconds(1))
            _ = try await first.cache.purge([.tag(two)])
            for server in [first, second] { await server.hasApplied(first) }
            await first.store("a", [one])
            await second.store("a", [one])
            let stamp = first.log.now
            // When the engine loses the log, or its end
            clock.advance(by: .seconds(2))
            if isWhole { coordinator.forgetEverything() } else { coordinator.loseLast(1, of: PurgeLog.name) }
            // Then both remove everything, and take no entry of before
            for server in [first, second] {
                await waitWhile(server.hasInMemory("a"))
                await waitWhile(server.log.now.epoch == stamp.epoch || server.isUnsure)
                XCTAssertTrue(server.log.isPurged(stamp, tags: [one]))
                let isThere = await server.finds("a")
                XCTAssertFalse(isThere)
                let late = PurgeStamp(epoch: stamp.epoch, position: LogPosition(milliseconds: .max, number: 0))
                XCTAssertTrue(server.log.isPurged(late, tags: []), "the engine that lost the log had a clock that was ahead")
            }
            // And purges work as before
            await first.hasApplied(first)
            await second.hasApplied(first)
            await second.store("b", [one])
            _ = try await first.cache.purge([.tag(one)])
            await second.hasApplied(first)
            let isThere = await second.finds("b")
            XCTAssertFalse(isThere)
            try await stop([first, second])
        }
    }

    // MARK: A coordinator that is down

    func testThatAPurgeWithoutTheCoordinatorIsDoneHereAndSentLater() async throws {
        // Given two servers whose coordinator is down
        let (first, second) = (try await server(), try await server())
        for server in [first, second] { await server.store("a", [one]) }
        coordinator.isUnreachable = true
        // When one purges
        let purge = try await first.cache.purge([.tag(one)])
        // Then it says that it alone has done so
        XCTAssertEqual(purge.rest, .unannounced)
        let here = await first.finds("a")
        let there = await second.finds("a")
        XCTAssertEqual([here, there], [false, true])
        XCTAssertEqual(first.log.metrics.outbox, 1)
        XCTAssertTrue(first.log.isPurged(first.log.now, tags: [one]), "the others may still store it")
        // And tells the other as soon as the coordinator is back, also after a restart
        try await stop([first])
        let restarted = try await server(folder: first.folder, waits: false)
        coordinator.isUnreachable = false
        await waitWhile(second.hasInMemory("a"))
        await waitWhile(restarted.log.metrics.outbox > 0)
        await second.hasApplied(restarted)
        let isThere = await second.finds("a")
        XCTAssertFalse(isThere)
        try await stop([restarted, second])
    }

    func testThatManyUnsentPurgesBecomeOneOfEverything() async throws {
        let server = try await server()
        coordinator.isUnreachable = true
        for part in 0..<11 {
            let purge = try await server.cache.purge((0..<100).map { .tag(CacheTag("\(part)-\($0)")) })
            XCTAssertEqual(purge.rest, .unannounced)
        }
        XCTAssertEqual(server.log.metrics.outbox, 1)
        coordinator.isUnreachable = false
        await waitWhile(server.log.metrics.outbox > 0)
        XCTAssertEqual(coordinator.records(of: PurgeLog.name).map { PurgeRecord($0).scope }, [.all])
        try await stop([server])
    }

    func testThatAPurgeThatArrivedAfterAllIsDoneTwice() async throws {
        let (first, second) = (try await server(), try await server())
        coordinator.isSlow = true
        let purge = try await first.cache.purge([.tag(one)])
        XCTAssertEqual(purge.rest, .unannounced)
        coordinator.isSlow = false
        await waitWhile(second.log.metrics.received < 2)
        try await stop([first, second])
    }

    func testThatAStartWithoutTheCoordinatorServesOn() async throws {
        // Given a server whose coordinator is down when it starts
        let before = try await server()
        await before.store("a", [one])
        try await stop([before])
        coordinator.isUnreachable = true
        let log = LogRecorder()
        let back = try await server(folder: before.folder, logger: log.logger, waits: false)
        // Then it gives up in time, says so, and serves its disk
        let isUpToDate = await back.follower.catchUp(within: .milliseconds(1))
        XCTAssertFalse(isUpToDate)
        await waitWhile(!log.all.contains { $0.contains("cannot read the purges of other servers for now") })
        let isThere = await back.finds("a")
        XCTAssertTrue(isThere)
        coordinator.isUnreachable = false
        await waitWhile(!log.all.contains { $0.contains("the log of purges is read again") })
        try await stop([back])
    }

    // MARK: Servers

    private func server(
        folder: TemporaryDirectory? = nil, logger: Logger = .silent, waits: Bool = true
    ) async throws -> ServerWithLog {
        let server = try ServerWithLog(
            folder: try folder ?? temporaryDirectory(), coordinator: coordinator, clock: clock, logger: logger)
        server.follower.start()
        if waits {
            let isUpToDate = await server.follower.catchUp(within: .seconds(60))
            XCTAssertTrue(isUpToDate)
            await waitWhile(server.isUnsure)
        }
        return server
    }

    private func stop(_ servers: [ServerWithLog]) async throws {
        for server in servers {
            await server.follower.shutdown()
            try await server.disk.close()
        }
    }
}

/// The cache of one server.
struct ServerWithLog {
    let folder: TemporaryDirectory
    let disk: DiskTier
    let cache: Cache
    let log: PurgeLog
    let follower: PurgeFollower
    let clock: ManualClock

    /// - Parameters:
    ///   - further: a tier behind the disk.
    ///   - store: the store of all servers.
    init(
        folder: TemporaryDirectory, coordinator: any Coordinator, clock: ManualClock, logger: Logger,
        further: (any CacheTier)? = nil, store: (any ObjectStore)? = nil
    ) throws {
        self.folder = folder
        self.clock = clock
        disk = try DiskTier(path: folder.path, clock: clock.wallClock, logger: .silent)
        let state = try StateStore(folder: folder.path, logger: .silent)
        log = PurgeLog(coordinator, state: state.part("purges"), logger: logger)
        let (log, clock) = (log, clock.wallClock)
        let shared = store.map { SharedTier($0, SharedSettings(prefix: "onesheet"), purges: log, clock: clock) }
        cache = Cache(
            memory: MemoryTier(clock: clock), disk: disk, further: further.map { [$0] } ?? [],
            cluster: ServerCluster(shared: shared, purges: log), logger: .silent)
        follower = PurgeFollower(log, cache: cache, pause: .milliseconds(10))
    }

    /// Whether the log was not read to its end yet.
    var isUnsure: Bool { log.contents.withLock { !$0.isComplete } }

    func store(_ name: String, _ tags: [CacheTag]) async {
        await cache.store(.sample(name, at: clock, tags: tags), for: CacheKey(.variant, name))
    }

    func finds(_ name: String) async -> Bool {
        await cache.entry(for: CacheKey(.variant, name), into: ReadingMemory(charging: MemoryBudget(limit: .max))) != nil
    }

    func hasInMemory(_ name: String) -> Bool { cache.memory.entryNow(for: CacheKey(.variant, name)) != nil }

    /// Waits until it has applied what `other` has appended.
    func hasApplied(_ other: ServerWithLog) async {
        guard let page = try? await log.coordinator.read(PurgeLog.name, after: nil, limit: 1, waiting: 0) else { return }
        await waitWhile(log.now.epoch != page.epoch || log.now.position < page.end)
    }
}
