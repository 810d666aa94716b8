internal import OnesheetCore
internal import Synchronization

/// Keys that a visit came by.
final class Visited: Sendable {
    private let seen = Mutex<[CacheKey]>([])

    var keys: [CacheKey] { seen.withLock { $0 } }
    func add(_ key: CacheKey) { seen.withLock { $0.append(key) } }
}
