import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// What a shared tier removes, and what a purge voids.
final class SharedTierPurgeTests: SharedTierTestCase {
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
        await waitWhile(tier.metrics.queued > 4)
        gate.open()
        _ = try await removal
        await tier.flush()
        // Then
        XCTAssertEqual(store.names, [])
    }

    func testThatAPurgeByAnotherServerVoidsWhatWasMadeBefore() async throws {
        // Given an entry made before a purge, in a store that still has it
        let purges = try PurgeLog(knowing: "3/-1")
        let tier = tier(purges: purges) { $0.absence = 0 }
        let (purged, other) = (CacheKey(.original, "a://1"), CacheKey(.original, "b://1"))
        let generation = await tier.generation()
        for key in [purged, other] { try await tier.store(.sample(at: clock, tags: [.source(String(key.source))]), for: key) }
        await tier.flush()
        // When another server has purged
        purges.purge(.source("a"))
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
        let purges = try PurgeLog(knowing: "3/-1")
        purges.purge(.source("a"))
        try await tier(purges: purges).storeAndFlush(.sample(at: clock, tags: [.source("a")]), for: key)
        // When another server knows the same, and later one more
        let second = tier(purges: purges)
        let before = try await second.entry(for: key)
        let wasThere = try await second.contains(key)
        purges.purge(.source("a"))
        let isThere = try await second.contains(key)
        let after = try await tier(purges: purges).entry(for: key)
        // Then
        XCTAssertNotNil(before)
        XCTAssertNil(after)
        XCTAssertEqual([wasThere, isThere], [true, false])
    }

    func testThatAStampIsOfOneLog() async throws {
        let entry = CacheEntry.sample(at: clock, tags: [.source("a")])
        try await tier(purges: PurgeLog(knowing: "lost")).storeAndFlush(entry, for: key)
        let (same, other) = try (tier(purges: PurgeLog(knowing: "lost")), tier(purges: PurgeLog(knowing: "new")))
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
        XCTAssertEqual(tier.metrics.queued, 8)
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
}

extension PurgeLog {
    /// A log without purges, read to its end.
    fileprivate convenience init(knowing epoch: String) throws {
        self.init(FakeCoordinator(), state: try StateStore().part("purges"), logger: .silent)
        contents.withLock { contents in
            (contents.epoch, contents.isComplete) = (epoch, true)
            contents.applied = PurgeStamp(epoch: epoch, position: LogPosition(milliseconds: 1, number: 0))
        }
    }

    /// A purge by another server, at the next position.
    fileprivate func purge(_ tag: CacheTag) {
        contents.withLock { contents in
            let position = LogPosition(milliseconds: 1, number: contents.applied.position.number + 1)
            contents.table.note(PurgeScope([tag]), at: position)
            contents.applied.position = position
        }
    }
}
