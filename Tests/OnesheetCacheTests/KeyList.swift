import OnesheetCore
import Synchronization

/// Keys in order of arrival.
final class KeyList: Sendable {
    private let keys = Mutex<[CacheKey]>([])

    var all: [CacheKey] { keys.withLock { $0 } }
    func add(_ key: CacheKey) { keys.withLock { $0.append(key) } }
}
