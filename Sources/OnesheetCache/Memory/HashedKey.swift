internal import OnesheetCore

/// A key with its hash, made before the lock is taken, so that the lock is held for less.
struct HashedKey: Hashable {
    let key: CacheKey
    private let hash: Int

    init(_ key: CacheKey) {
        self.key = key
        hash = key.hashValue
    }

    static func == (left: Self, right: Self) -> Bool { left.hash == right.hash && left.key == right.key }
    /// One of 1024 groups of keys.
    var group: Int { hash & 1023 }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
