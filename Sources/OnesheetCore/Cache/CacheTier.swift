/// One level of the cache: memory, disk, shared.
///
/// A tier may lose an entry at any time. It never returns anything but the bytes stored under the key.
public protocol CacheTier: Sendable {
    /// The name of the tier in metrics and in `Cache-Status`: `memory`, `disk`.
    var name: String { get }

    /// The entry under `key`; `nil` if there is none, or if it has expired or is damaged.
    func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry?

    /// Whether there is an entry that has not expired. Does not read its bytes and does not extend its lifetime.
    func contains(_ key: CacheKey) async throws(CacheError) -> Bool

    /// Stores `entry` and replaces any other entry under `key`.
    /// - Parameter generation: the generation of the tier at the start of the work that made `entry`. If it has changed since,
    ///   nothing is stored. The tier compares and stores in one step, so no purge can come between. `nil` stores unconditionally.
    /// - Returns: whether the generation was unchanged. A tier that rejects the entry for another reason, such as its size, returns
    ///   `true`.
    @discardableResult
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool

    /// A number that every purge changes, including purges by other processes. Reading it purges nothing.
    func generation() async throws(CacheError) -> Int

    /// Adds one to the generation. Work that began earlier is not stored afterwards. A purge raises the generation first and
    /// removes entries second.
    /// - Returns: the new generation.
    func raiseGeneration() async throws(CacheError) -> Int

    /// Removes the entry under `key`, if there is one.
    func remove(_ key: CacheKey) async throws(CacheError)

    /// Removes all entries that match `selection`; with `dryRun`, only counts them. No reader finds them after it returns.
    func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval

    /// Calls `visit` with each entry's key, in no particular order.
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError)

    /// Counters since the start, and the present contents.
    func statistics() async throws(CacheError) -> CacheStatistics
}

extension CacheTier {
    /// Stores `entry` and replaces any other entry under `key`, regardless of purges.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws(CacheError) {
        try await store(entry, for: key, ifGeneration: nil)
    }
}

/// The entries to remove.
public enum CacheSelection: Sendable, Equatable {
    case all
    case expired
    case tag(CacheTag)

    /// The selection that a request or a command names: exactly one of a source, or a title of it, a tag, the expired entries and all.
    /// - Returns: `nil` if none or several are named, so that nothing by mistake selects everything.
    package init?(source: String? = nil, id: String? = nil, tag: String? = nil, expired: Bool = false, all: Bool = false) {
        var named: [Self] = []
        if let source { named.append(.tag(id.map { .title(TitleReference(source: source, id: $0)) } ?? .source(source))) }
        if let tag { named.append(.tag(CacheTag(tag))) }
        if expired { named.append(.expired) }
        if all { named.append(.all) }
        guard named.count == 1 else { return nil }
        self = named[0]
    }
}

/// The number and size of the entries that a removal removed or, in a dry run, would have removed.
public struct CacheRemoval: Sendable, Equatable, Codable {
    /// The number of removed entries.
    public var entries: Int
    /// Their size in bytes.
    public var bytes: Int

    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }

    /// The sum of both; the largest number if it is larger.
    public static func + (left: Self, right: Self) -> Self {
        Self(entries: left.entries.addingSaturating(right.entries), bytes: left.bytes.addingSaturating(right.bytes))
    }
}

/// The reason for which a tier failed.
public enum CacheError: Error, Sendable, Equatable {
    /// The file system failed: the attempted `operation` on `path`, and the system's `reason`.
    case fileSystem(operation: String, path: String, reason: String)
    /// The index database failed.
    case index(operation: String, reason: String)
    /// The tier of a plugin failed.
    case tier(operation: String, reason: String)
    /// The folder is not a cache folder of Onesheet, so it is left unchanged.
    case notACache(path: String)
}

extension CacheError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .fileSystem(let operation, let path, let reason): "cannot \(operation) \(path): \(reason)"
        case .index(let operation, let reason): "cannot \(operation) the cache index: \(reason)"
        case .tier(let operation, let reason): "cannot \(operation): \(reason)"
        case .notACache(let path):
            "\(path) has files and is not a Onesheet cache; choose an empty or a new folder to keep your files safe"
        }
    }
}

extension Failure {
    /// A tier has failed. The message has no paths of this machine and no text of a library or a plugin, which may contain some.
    package static func cache(_ error: CacheError) -> Failure {
        let message =
            switch error {
            case .fileSystem(let operation, _, let reason): "cannot \(operation) a file or folder of the cache: \(reason)"
            case .index(let operation, _): "cannot \(operation) the cache index"
            case .tier(let operation, _): "a tier of the cache failed: cannot \(operation)"
            case .notACache: "the folder of the cache has files and is not a Onesheet cache"
            }
        return Failure(
            blame: .server, status: .internalError, title: "Cache failed", message: "\(message); the server's log has the details")
    }
}
