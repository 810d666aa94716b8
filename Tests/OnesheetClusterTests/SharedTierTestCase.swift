import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetCluster

/// A test of shared tiers on one store.
class SharedTierTestCase: XCTestCase {
    let clock = ManualClock()
    let store = FakeObjectStore()
    let key = CacheKey(.variant, "sample://1#w342.jpg")

    func settings(_ change: (inout SharedSettings) -> Void = { _ in }) -> SharedSettings {
        var settings = SharedSettings(prefix: "onesheet")
        change(&settings)
        return settings
    }

    func tier(
        purges: PurgeLog? = nil, _ change: (inout SharedSettings) -> Void = { _ in }
    ) -> SharedTier { SharedTier(store, settings(change), purges: purges, clock: clock.wallClock) }
}

extension SharedTier {
    func storeAndFlush(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await store(entry, for: key)
        await flush()
    }
}

/// The visited keys, in the order of their texts.
final class Keys: Sendable {
    private let keys = Mutex<[String]>([])
    var all: [String] { keys.withLock { $0.sorted() } }
    func add(_ key: CacheKey) { keys.withLock { $0.append(key.description) } }
}
