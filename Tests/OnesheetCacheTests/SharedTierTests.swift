import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCache

final class SharedTierTests: XCTestCase {
    private let clock = ManualClock()
    private let store = FakeObjectStore()
    private let key = CacheKey(.variant, "sample://1#w342.jpg")

    private func settings(_ change: (inout SharedSettings) -> Void = { _ in }) -> SharedSettings {
        var settings = SharedSettings(prefix: "onesheet")
        // The entries of these tests cost a millisecond.
        settings.minimumCost = 0
        change(&settings)
        return settings
    }

    private func tier(
        records: any PurgeRecords = NoPurgeRecords(), _ change: (inout SharedSettings) -> Void = { _ in }
    ) -> SharedTier { SharedTier(store, settings(change), records: records, clock: clock.wallClock) }

    func testThatItDoesWhatEveryTierHasToDo() async {
        let conformance = TierConformance(extends: false) { clock, expires, _ in
            var settings = SharedSettings(prefix: "a/b")
            (settings.expires, settings.minimumCost) = (expires, 0)
            let store = FakeObjectStore()
            return CountedTier(tier: SharedTier(store, settings, clock: clock), store: store)
        }

        let report = await conformance.run()

        XCTAssertEqual(report.failures.map(\.description), [])
    }

    func testThatAnotherServerFindsWhatOneStored() async throws {
        // Given
        let (first, second) = (tier(), tier())
        let entry = CacheEntry.sample(at: clock, tags: [.source("sample")])
        // When
        try await first.store(entry, for: key)
        await first.flush()
        // Then
        let found = try await second.entry(for: key)
        XCTAssertEqual(found, entry)
        XCTAssertEqual(second.figures.requests["get"]?.outcomes, ["hit": 1])
        XCTAssertEqual(second.figures.bytesRead, first.figures.bytesWritten)
    }

    func testThatAnEntryIsFoundBeforeItIsWritten() async throws {
        // Given a store that does not answer
        let gate = Gate()
        store.change { $0.gate = gate }
        let tier = tier()
        let entry = CacheEntry.sample(at: clock)
        // When
        try await tier.store(entry, for: key)
        // Then
        let found = try await tier.entry(for: key)
        XCTAssertEqual(found, entry)
        XCTAssertEqual(tier.figures.queued, 1)
        XCTAssertEqual(tier.figures.queuedBytes, entry.body.readableBytes)
        gate.open()
        await tier.flush()
        XCTAssertEqual(tier.figures.queued, 0)
        XCTAssertEqual(store.names.count, 1)
    }

    func testThatADamagedObjectIsAMissAndDeleted() async throws {
        // Given an entry in the store
        let tier = tier { $0.absence = 0 }
        try await tier.store(.sample("a body", at: clock), for: key)
        await tier.flush()
        let name = store.names[0]
        let whole = try XCTUnwrap(store[name])
        var damaged = (0..<whole.readableBytes).map { place in
            var object = whole
            object.setInteger(object.getInteger(at: place, as: UInt8.self)! ^ 0x10, at: place)
            return object
        }
        damaged += (0..<whole.readableBytes).map { whole.getSlice(at: 0, length: $0)! }
        damaged.append(ByteBuffer(bytes: Array(whole.readableBytesView) + [0]))
        damaged.append(ByteBuffer(repeating: 0xFF, count: 10 << 20))
        for object in damaged {
            // When it is damaged
            store[name] = object
            let found = try await tier.entry(for: key)
            await tier.flush()
            // Then
            XCTAssertNil(found)
            XCTAssertNil(store[name])
        }
        XCTAssertEqual(tier.figures.damaged, damaged.count)
        let counted = await tier.statistics().total.damaged
        XCTAssertEqual(counted, damaged.count)
    }

    func testThatAnObjectUnderAnotherNameIsNotServed() async throws {
        let tier = tier()
        let other = CacheKey(.variant, "sample://2#w342.jpg")
        try await tier.store(.sample("one", at: clock), for: key)
        await tier.flush()
        store[tier.names.name(of: other)] = store[tier.names.name(of: key)]

        let found = try await tier.entry(for: other)

        XCTAssertNil(found)
        XCTAssertEqual(tier.figures.damaged, 1)
    }

    func testThatAnAbsentEntryIsAskedForOnceInAWhile() async throws {
        let tier = tier()
        for _ in 0..<3 { _ = try await tier.entry(for: key) }
        XCTAssertEqual(store.calls(.get), 1)

        clock.advance(by: .seconds(3))
        _ = try await tier.entry(for: key)

        XCTAssertEqual(store.calls(.get), 2)
    }

    func testThatALargeEntryIsNotStored() async throws {
        let tier = tier { $0.bodyLimit = 100 }
        for count in [100, 101] {
            let isCurrent = try await tier.store(
                .sample(ByteBuffer(repeating: 1, count: count), at: clock), for: CacheKey(.original, "\(count)"), ifGeneration: nil)
            XCTAssertTrue(isCurrent)
        }
        await tier.flush()

        let evictions = await tier.statistics().total.evictions
        XCTAssertEqual(evictions, ["too large": 1])
        XCTAssertEqual(store.names.count, 1)
    }

    func testThatAVariantThatIsCheapToMakeIsNotStoredAndItsOriginalIs() async throws {
        let tier = tier { $0.minimumCost = 5 }
        try await tier.store(.sample(at: clock, cost: 4), for: key)
        try await tier.store(.sample(at: clock, cost: 4), for: CacheKey(.original, "sample://1"))
        try await tier.store(.sample(at: clock, cost: 5), for: CacheKey(.variant, "sample://2#w342.jpg"))
        await tier.flush()

        let keys = Keys()
        try await tier.forEachKey { keys.add($0) }
        XCTAssertEqual(keys.all, ["original:sample://1", "variant:sample://2#w342.jpg"])
    }

    // MARK: Conditions

    func testThatAVariantThatAnotherServerWroteIsNotWrittenAgain() async throws {
        // Given two servers that made the same variant
        let (first, second) = (tier(), tier())
        let entry = CacheEntry.sample(at: clock)
        for tier in [first, second] {
            try await tier.store(entry, for: key)
            await tier.flush()
        }
        // Then only one wrote it
        XCTAssertEqual(second.figures.requests["put"]?.outcomes, ["exists": 1])
        XCTAssertEqual(second.figures.bytesWritten, 0)
    }

    func testThatAVariantReplacesAnOlderAnExpiredOrADamagedOne() async throws {
        let (first, second) = (tier(), tier())
        let name = first.names.name(of: key)
        try await first.store(.sample("first", at: clock, cacheTime: .seconds(10)), for: key)
        await first.flush()
        let changes: [() -> Void] = [
            { self.clock.advance(by: .seconds(1)) }, { self.clock.advance(by: .seconds(100)) },
            { self.store[name] = ByteBuffer(string: "x") },
        ]
        for (number, prepare) in changes.enumerated() {
            // Given
            prepare()
            // When
            let entry = CacheEntry.sample("number \(number)", at: clock, cacheTime: .seconds(10))
            try await second.store(entry, for: key)
            await second.flush()
            // Then
            let found = try await first.entry(for: key)
            XCTAssertEqual(found, entry)
        }
    }

    func testThatAVariantOfAnOlderOriginalDoesNotReplaceANewerOne() async throws {
        let (first, second) = (tier(), tier())
        let older = CacheEntry.sample("older", at: clock)
        clock.advance(by: .seconds(1))
        let newer = CacheEntry.sample("newer", at: clock)
        try await first.store(newer, for: key)
        await first.flush()

        try await second.store(older, for: key)
        await second.flush()

        let found = try await second.entry(for: key)
        XCTAssertEqual(found, newer)
    }

    func testThatAStoreWithoutConditionsIsWrittenWithoutThem() async throws {
        // Given
        store.change { $0.ignoresConditions = true }
        let tier = tier()
        let abilities = try await tier.probe()
        // When the store would check a condition
        store.change { $0.ignoresConditions = false }
        for text in ["old", "new"] {
            try await tier.store(.sample(text, at: clock), for: key)
            await tier.flush()
        }
        // Then none was sent
        XCTAssertFalse(abilities.hasConditions)
        XCTAssertEqual(tier.figures.requests["put"]?.outcomes, ["stored": 2])
    }

    // MARK: Purges

    func testThatATitleIsRemovedByItsNamesAlone() async throws {
        // Given entries of all kinds of two titles
        let tier = tier()
        let titles = ["1", "2"].map { TitleReference(source: "sample", id: $0) }
        for title in titles {
            for key in [
                CacheKey(.original, "\(title)"), CacheKey(.variant, "\(title)#w92.jpg"), CacheKey(.metadata, "title/\(title)"),
            ] {
                try await tier.store(.sample(at: clock, tags: [.source("sample"), .title(title)]), for: key)
            }
        }
        await tier.flush()
        // When
        let removal = try await tier.remove(.tag(.title(titles[0])), dryRun: false)
        // Then
        XCTAssertEqual(removal.entries, 3)
        XCTAssertEqual(store.calls(.get), 0)
        let keys = Keys()
        try await tier.forEachKey { keys.add($0) }
        XCTAssertEqual(keys.all, ["metadata:title/sample://2", "original:sample://2", "variant:sample://2#w92.jpg"])
        // And the rest with its source
        let rest = try await tier.remove(.tag(.source("sample")), dryRun: false)
        XCTAssertEqual(rest.entries, 3)
        XCTAssertEqual(store.names, [])
    }

    func testThatARemovalOfAllLeavesOtherThingsOfTheServersAlone() async throws {
        let tier = tier()
        try await tier.store(.sample(at: clock, tags: [CacheTag("list")]), for: CacheKey(.metadata, "list/sample://"))
        await tier.flush()
        for name in ["onesheet/state/pins", "onesheet2/v2/a", "onesheet/v1/old"] { store[name] = ByteBuffer(string: "x") }

        let removal = try await tier.remove(.all, dryRun: false)

        XCTAssertEqual(removal.entries, 2)
        XCTAssertEqual(store.names, ["onesheet/state/pins", "onesheet2/v2/a"])
    }

    func testThatARemovalFromAStoreThatFailsIsAnError() async throws {
        let tier = tier()
        store.change { $0.failure = .unreachable(operation: "list", reason: "it is off") }
        for selection in [CacheSelection.all, .expired, .tag(.source("sample"))] {
            do {
                _ = try await tier.remove(selection, dryRun: false)
                XCTFail("\(selection) is removed")
            } catch {
                XCTAssertTrue("\(error)".contains("it is off"), "\(error)")
            }
        }
    }

    func testThatWhatWaitsIsNotWrittenAfterItsRemoval() async throws {
        // Given a store that hangs, one entry under way and others waiting
        let gate = Gate()
        store.change { $0.gate = gate }
        let tier = tier { ($0.flushDeadline, $0.writeDeadline) = (.milliseconds(20), .seconds(60)) }
        for number in 0..<8 {
            try await tier.store(.sample(at: clock, tags: [.source("a")]), for: CacheKey(.original, "a://\(number)"))
        }
        await gate.hasBeenReached(by: 4)
        // When they are removed
        async let removal = tier.remove(.tag(.source("a")), dryRun: false)
        await waitWhile(tier.figures.queued > 4)
        gate.open()
        _ = try await removal
        await tier.flush()
        // Then
        XCTAssertEqual(store.names, [])
    }

    func testThatAPurgeByAnotherServerVoidsWhatWasMadeBefore() async throws {
        // Given an entry made before a purge, in a store that still has it
        let records = KnownPurges()
        let tier = tier(records: records) { $0.absence = 0 }
        let (purged, other) = (CacheKey(.original, "a://1"), CacheKey(.original, "b://1"))
        let generation = await tier.generation()
        for key in [purged, other] { try await tier.store(.sample(at: clock, tags: [.source(String(key.source))]), for: key) }
        await tier.flush()
        // When another server has purged
        records.purge(.source("a"))
        // Then it is not found, and work that began before is not stored
        let found = [try await tier.entry(for: purged), try await tier.entry(for: other)]
        XCTAssertNil(found[0])
        XCTAssertNotNil(found[1])
        let late = try await tier.store(.sample(at: clock, tags: [.source("a")]), for: purged, ifGeneration: generation)
        XCTAssertFalse(late)
        // And what is made later is
        let entry = CacheEntry.sample("new", at: clock, tags: [.source("a")])
        let now = await tier.generation()
        let isStored = try await tier.store(entry, for: purged, ifGeneration: now)
        XCTAssertTrue(isStored)
        await tier.flush()
        let again = try await tier.entry(for: purged)
        XCTAssertEqual(again, entry)
    }

    func testThatStampsOutliveTheServer() async throws {
        // Given entries of a server that knew two purges
        let records = KnownPurges()
        records.purge(.source("a"))
        try await tier(records: records).storeAndFlush(.sample(at: clock, tags: [.source("a")]), for: key)
        // When another server knows the same, and later one more
        let second = tier(records: records)
        let before = try await second.entry(for: key)
        records.purge(.source("a"))
        let after = try await second.entry(for: key)
        // Then
        XCTAssertNotNil(before)
        XCTAssertNil(after)
    }

    func testThatAStampIsOfOneLog() async throws {
        let entry = CacheEntry.sample(at: clock, tags: [.source("a")])
        try await tier(records: KnownPurges(epoch: "lost")).storeAndFlush(entry, for: key)
        let (same, other) = (tier(records: KnownPurges(epoch: "lost")), tier(records: KnownPurges(epoch: "new")))
        let found = [try await same.entry(for: key), try await other.entry(for: key)]
        XCTAssertEqual(found, [entry, nil])
    }

    func testThatARemovalWaitsForNoOtherEntries() async throws {
        // Given a store that hangs while it writes entries of one source, and others that wait
        let gate = Gate()
        store.change { $0.gate = gate }
        let tier = tier { $0.writeDeadline = .seconds(600) }
        for number in 0..<8 {
            try await tier.store(.sample(at: clock, tags: [.source("b")]), for: CacheKey(.original, "b://\(number)"))
        }
        await gate.hasBeenReached(by: 4)
        for number in 0..<3 {
            try await tier.store(.sample(at: clock, tags: [.source("a")]), for: CacheKey(.original, "a://\(number)"))
        }
        store.change { $0.gate = nil }
        // When those of another source are removed
        let removal = try await tier.remove(.tag(.source("a")), dryRun: false)
        // Then the removal is over before the first are written
        XCTAssertEqual(removal.entries, 3)
        XCTAssertEqual(tier.figures.queued, 8)
        gate.open()
        await tier.flush()
        XCTAssertEqual(store.names.count, 8)
    }

    func testThatAnEntryInTheQueueAndInTheStoreIsRemovedAndCountedOnce() async throws {
        let tier = tier()
        let tags = [CacheTag.source("a"), CacheTag("further")]
        for number in 0..<2 {
            try await tier.storeAndFlush(.sample(at: clock, tags: tags), for: CacheKey(.original, "a://\(number)"))
        }
        let gate = Gate()
        store.change { $0.gate = gate }
        for number in 0..<4 {
            try await tier.store(.sample(at: clock, tags: [.source("b")]), for: CacheKey(.original, "b://\(number)"))
        }
        await gate.hasBeenReached(by: 4)
        try await tier.store(.sample("newer", at: clock, tags: tags), for: CacheKey(.original, "a://1"))
        store.change { $0.gate = nil }
        let removal = try await tier.remove(.tag(CacheTag("further")), dryRun: false)
        XCTAssertEqual(removal.entries, 2)
        gate.open()
        await tier.flush()
        let rest = try await tier.remove(.all, dryRun: false)
        XCTAssertEqual(rest.entries, 4)
    }

    // MARK: Counting

    func testThatASumOfSizesThatAStoreMakesUpIsNoTrap() async throws {
        let sum = CacheRemoval(entries: 1, bytes: .max) + CacheRemoval(entries: 1, bytes: 5)
        XCTAssertEqual(sum, CacheRemoval(entries: 2, bytes: .max))
        var figures = CacheFigures()
        figures.bytes = .max
        XCTAssertEqual((figures + figures).bytes, .max)
    }

    func testThatLookUpsAtOnceTakeAQuarterOfTheMemory() {
        let settings = SharedSettings(prefix: "onesheet")
        let counts = [0, 64 << 20, 512 << 20, 4 << 30].map(settings.readsUnderWay(within:))
        XCTAssertEqual(counts, [4, 4, 16, 64])
    }

    func testThatHeldEntriesAreCountedBySourceWithoutReadingThem() async throws {
        let tier = tier()
        for (number, source) in ["a", "a", "b", "c"].enumerated() {
            try await tier.store(.sample(at: clock, tags: [CacheTag("further")]), for: CacheKey(.original, "\(source)://\(number)"))
        }
        await tier.flush()

        let held = try await tier.held(sources: ["a", "b"])

        XCTAssertEqual(held.sources.mapValues(\.entries), ["a": 2, "b": 1, "": 1])
        XCTAssertEqual(held.total.bytes, store.names.reduce(0) { $0 + (store[$1]?.readableBytes ?? 0) })
        XCTAssertEqual(store.calls(.get), 0)
    }

    func testThatVerificationFindsAndRepairsDamage() async throws {
        let tier = tier()
        for number in 0..<20 { try await tier.store(.sample(at: clock), for: CacheKey(.original, "a://\(number)")) }
        await tier.flush()
        for name in store.names.prefix(3) { store[name] = ByteBuffer(string: "x") }

        let found = try await tier.verify(repair: false)
        let repaired = try await tier.verify(repair: true)
        let after = try await tier.verify(repair: false)

        XCTAssertEqual([found.whole, found.damaged, repaired.damaged, after.damaged, after.whole], [17, 3, 3, 0, 17])
        XCTAssertFalse(found.isClean)
        XCTAssertTrue(after.isClean)
    }
}

extension SharedTier {
    fileprivate func storeAndFlush(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await store(entry, for: key)
        await flush()
    }
}

/// Purges at the positions 1, 2, 3, …
private final class KnownPurges: PurgeRecords {
    private let purges = Mutex<[CacheTag]>([])
    private let epoch: String

    init(epoch: String = "3/-1") { self.epoch = epoch }

    func purge(_ tag: CacheTag) { purges.withLock { $0.append(tag) } }

    var now: PurgeStamp? {
        PurgeStamp(epoch: epoch, position: LogPosition(milliseconds: 1, number: purges.withLock { $0.count }))
    }

    func isPurged(_ stamp: PurgeStamp?, tags: [CacheTag]) -> Bool {
        if let stamp, stamp.epoch != epoch { return true }
        return purges.withLock { $0.dropFirst(stamp?.position.number ?? 0).contains(where: tags.contains) }
    }
}

/// The visited keys, in the order of their texts.
private final class Keys: Sendable {
    private let keys = Mutex<[String]>([])
    var all: [String] { keys.withLock { $0.sorted() } }
    func add(_ key: CacheKey) { keys.withLock { $0.append(key.description) } }
}

/// The tier with the statistics of the whole store, which it does not count by itself because that takes a list.
private struct CountedTier: CacheTier {
    let tier: SharedTier
    let store: FakeObjectStore

    var name: String { tier.name }
    func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? { try await tier.entry(for: key) }
    func contains(_ key: CacheKey) async throws(CacheError) -> Bool { try await tier.contains(key) }
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool {
        try await tier.store(entry, for: key, ifGeneration: generation)
    }
    func generation() async -> Int { await tier.generation() }
    func raiseGeneration() async -> Int { await tier.raiseGeneration() }
    func remove(_ key: CacheKey) async throws(CacheError) { try await tier.remove(key) }
    func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval {
        try await tier.remove(selection, dryRun: dryRun)
    }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError) { try await tier.forEachKey(visit) }

    func statistics() async throws(CacheError) -> CacheStatistics {
        await tier.flush()
        var figures = await tier.statistics().sources
        for name in store.names where !tier.names.isMarker(name) {
            guard let object = store[name], let digest = SharedNames.entryName(in: name) else { continue }
            do {
                let header = try EntryHeader(object, named: digest)
                var one = CacheFigures()
                (one.entries, one.bytes, one.oldest) = (1, object.readableBytes, header.facts.created)
                figures[String(header.key.source), default: CacheFigures()] =
                    figures[String(header.key.source), default: CacheFigures()] + one
            } catch {
                throw .tier(operation: "read", reason: "\(error)")
            }
        }
        return CacheStatistics(byteLimit: figures.values.reduce(0) { $0 + $1.bytes }, sources: figures)
    }
}
