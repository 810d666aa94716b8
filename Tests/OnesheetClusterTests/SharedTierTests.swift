import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// What a shared tier stores and finds.
final class SharedTierTests: SharedTierTestCase {
    func testThatItDoesWhatEveryTierHasToDo() async {
        let conformance = TierConformance(extends: false) { clock, expires, _ in
            var settings = SharedSettings(prefix: "a/b")
            settings.expires = expires
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
        XCTAssertEqual(second.metrics.requests["get"]?.outcomes, ["hit": 1])
        XCTAssertEqual(second.metrics.bytesRead, first.metrics.bytesWritten)
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
        XCTAssertEqual(tier.metrics.queued, 1)
        XCTAssertEqual(tier.metrics.queuedBytes, entry.body.readableBytes)
        gate.open()
        await tier.flush()
        XCTAssertEqual(tier.metrics.queued, 0)
        XCTAssertEqual(store.names.count, 1)
    }

    func testThatALookForPresenceReadsNoBody() async throws {
        // Given a small entry, one with a large body, and one with a large header too
        let (writer, reader) = (tier(), tier())
        let large = ByteBuffer(repeating: 1, count: 100_000)
        let keys = (1...3).map { CacheKey(.original, "sample://\($0)") }
        try await writer.store(.sample("small", at: clock), for: keys[0])
        try await writer.store(.sample(large, at: clock), for: keys[1])
        let tags = (0..<12).map { CacheTag(String(repeating: "t", count: 500) + "\($0)") }
        try await writer.store(.sample(large, at: clock, tags: tags), for: keys[2])
        await writer.flush()
        // When
        for key in keys {
            let isThere = try await reader.contains(key)
            // Then
            XCTAssertTrue(isThere, "\(key)")
        }
        let isAbsent = try await !reader.contains(key)
        XCTAssertTrue(isAbsent)
        XCTAssertEqual(store.calls(.get), 0)
        XCTAssertEqual(store.calls(.start), 5, "the large header takes a second look")
        XCTAssertLessThan(reader.metrics.bytesRead, 20_000)
        XCTAssertEqual(reader.metrics.requests["get"]?.outcomes, ["hit": 3, "miss": 1])
    }

    func testThatALookForPresenceKnowsWhatMayNotBeServed() async throws {
        let tier = tier { $0.absence = 0 }
        let entry = CacheEntry.sample(ByteBuffer(repeating: 1, count: 10_000), at: clock, cacheTime: .seconds(10))
        try await tier.storeAndFlush(entry, for: key)
        let name = store.names[0]
        let whole = try XCTUnwrap(store[name])
        // Given objects that are cut off, too long, or have another header
        var longer = whole
        longer.writeInteger(0, as: UInt8.self)
        var other = whole
        other.setInteger(other.getInteger(at: 80, as: UInt8.self)! ^ 1, at: 80)
        for object in [whole.getSlice(at: 0, length: 9_000)!, whole.getSlice(at: 0, length: 20)!, ByteBuffer(), longer, other] {
            store[name] = object
            // When
            let isThere = try await tier.contains(key)
            await tier.flush()
            // Then
            XCTAssertFalse(isThere, "\(object.readableBytes)")
            XCTAssertNil(store[name])
        }
        XCTAssertEqual(tier.metrics.damaged, 5)
        // And an expired one
        store[name] = whole
        let before = try await tier.contains(key)
        clock.advance(by: .seconds(11))
        let after = try await tier.contains(key)
        XCTAssertEqual([before, after], [true, false])
    }

    func testThatAStoreThatReadsOnlyWholeObjectsCanBeAskedForPresence() async throws {
        let settings = settings()
        try await tier().storeAndFlush(.sample(ByteBuffer(repeating: 1, count: 100_000), at: clock), for: key)
        let reader = SharedTier(WholeObjects(store: store), settings, clock: clock.wallClock)

        let found = [try await reader.contains(key), try await reader.contains(CacheKey(.original, "sample://2"))]

        XCTAssertEqual(found, [true, false])
        XCTAssertEqual(store.calls(.get), 2)
    }

    func testThatAShortAnswerOfAStoreIsNoDamage() async throws {
        try await tier().storeAndFlush(.sample(ByteBuffer(repeating: 1, count: 100_000), at: clock), for: key)
        let reader = SharedTier(ShortStarts(store: store), settings(), clock: clock.wallClock)

        do {
            _ = try await reader.contains(key)
            XCTFail("no error")
        } catch {
            XCTAssertTrue("\(error)".contains("the store gave 100 of 4096 bytes"), "\(error)")
        }
        await reader.flush()

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
        XCTAssertEqual(tier.metrics.damaged, damaged.count)
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
        XCTAssertEqual(tier.metrics.damaged, 1)
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

    func testVariantsAreStoredWhateverTheyCost() async throws {
        let tier = tier { _ in }
        try await tier.store(.sample(at: clock, cost: 0), for: key)
        await tier.flush()

        let keys = Keys()
        try await tier.forEachKey { keys.add($0) }
        XCTAssertEqual(keys.all, ["\(key)"])
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
        XCTAssertEqual(second.metrics.requests["put"]?.outcomes, ["exists": 1])
        XCTAssertEqual(second.metrics.bytesWritten, 0)
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
        XCTAssertEqual(tier.metrics.requests["put"]?.outcomes, ["stored": 2])
    }
}

/// A store as plugins wrote it before stores could read the start of an object.
private struct WholeObjects: PassingStore {
    let store: FakeObjectStore
}

/// A store that gives fewer bytes of a start than there are.
private struct ShortStarts: PassingStore {
    let store: FakeObjectStore

    func start(of name: String, count: Int, limit: Int) async throws(StoreError) -> ObjectStart? {
        var start = try await store.start(of: name, count: count, limit: limit)
        if let bytes = start?.bytes.getSlice(at: 0, length: 100) { start?.bytes = bytes }
        return start
    }
}

/// Passes calls on to another store.
private protocol PassingStore: ObjectStore {
    var store: FakeObjectStore { get }
}

extension PassingStore {
    func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject? { try await store.object(name, limit: limit) }
    func put(_ body: ByteBuffer, as name: String, if condition: StoreCondition) async throws(StoreError) -> String? {
        try await store.put(body, as: name, if: condition)
    }
    func delete(_ names: [String]) async throws(StoreError) { try await store.delete(names) }
    func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing {
        try await store.list(prefix: prefix, after: after, limit: limit)
    }
    func probe(prefix: String) async throws(StoreError) -> StoreAbilities { try await store.probe(prefix: prefix) }
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
