internal import OnesheetCore
internal import Synchronization

/// The keys of a visit.
final class Visited: Sendable {
    private let seen = Mutex<[CacheKey]>([])

    var keys: [CacheKey] { seen.withLock { $0 } }
    func add(_ key: CacheKey) { seen.withLock { $0.append(key) } }
}
