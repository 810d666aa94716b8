/// One level of the cache: memory, disk, shared.
///
/// A tier may forget anything at any time, and never answers with anything but what was stored under the key.
public protocol CacheTier: Sendable {
    /// The tier's name in figures and in `Cache-Status`: `memory`, `disk`.
    var name: String { get }

    /// The fresh entry under `key`; `nil` if there is none, it has expired, or what is stored is damaged.
    func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry?

    /// Whether a fresh entry is there, without reading its bytes and without extending its life.
    func contains(_ key: CacheKey) async throws(CacheError) -> Bool

    /// Stores `entry`, replacing what was under `key`.
    /// - Parameter generation: the tier's generation when the work began that `entry` comes from. If it has changed since, nothing is
    ///   stored. The tier compares and stores in one step, so that no purge comes between. `nil` stores in any case.
    /// - Returns: whether the generation was still the same. An entry that the tier does not want, because it is too large for example,
    ///   is no reason to return `false`.
    @discardableResult
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool

    /// A number that changes with each purge, whichever process purges. Reading it changes nothing.
    func generation() async throws(CacheError) -> Int

    /// Adds one to the generation: what began before is not stored afterwards. A purge raises it and then removes.
    /// - Returns: the new generation.
    func raiseGeneration() async throws(CacheError) -> Int

    /// Removes the entry under `key`, if there is one.
    func remove(_ key: CacheKey) async throws(CacheError)

    /// Removes all entries that `selection` takes; with `dryRun` only counts them. No reader finds them after it returns.
    func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval

    /// Calls `visit` with each entry's key, in no particular order.
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError)

    /// Figures since the start, and what is there now.
    func statistics() async throws(CacheError) -> CacheStatistics
}

extension CacheTier {
    /// Stores `entry`, replacing what was under `key`, whatever was purged meanwhile.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws(CacheError) {
        try await store(entry, for: key, ifGeneration: nil)
    }
}

/// Which entries to remove.
public enum CacheSelection: Sendable, Equatable {
    case all
    case expired
    case tag(CacheTag)
}

/// What a removal removed, or would have.
public struct CacheRemoval: Sendable, Equatable, Codable {
    public var entries: Int
    public var bytes: Int

    public init(entries: Int = 0, bytes: Int = 0) {
        (self.entries, self.bytes) = (entries, bytes)
    }

    public static func + (left: Self, right: Self) -> Self {
        Self(entries: left.entries + right.entries, bytes: left.bytes + right.bytes)
    }
}

/// Why a tier could not do what it was asked.
public enum CacheError: Error, Sendable, Equatable {
    /// The file system said no; `operation` and `path` name what was tried, `reason` is its answer.
    case fileSystem(operation: String, path: String, reason: String)
    /// The index database said no.
    case index(operation: String, reason: String)
    /// The tier of a plugin said no.
    case tier(operation: String, reason: String)
    /// The folder holds something that is not a cache of ours, so it is left alone.
    case notACache(path: String)
}

extension CacheError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .fileSystem(let operation, let path, let reason): "cannot \(operation) \(path): \(reason)"
        case .index(let operation, let reason): "cannot \(operation) the cache index: \(reason)"
        case .tier(let operation, let reason): "cannot \(operation): \(reason)"
        case .notACache(let path):
            "\(path) has files in it and is not a Onesheet cache; name an empty or a new folder, so that nothing of yours is touched"
        }
    }
}
