package import NIOCore
package import OnesheetCore

/// An optional capability of the built-in tiers: answers on an event loop.
package protocol ImmediateTier: CacheTier {
    /// Looks up an entry that has not expired, without blocking; called on an event loop. Counts a miss if the entry is absent.
    /// - Parameter limit: the largest body to read into memory, in bytes. A larger entry is returned as a file or not at all.
    func entryNow(for key: CacheKey, reading limit: Int) -> ReadyLookUp

    /// The bytes of a file that `entryNow` returned. Reads them from the disk if necessary. `nil` if the file has become shorter.
    func read(_ file: ReadyFile) async throws(CacheError) -> ByteBuffer?
}

/// The outcome of a lookup that did not wait.
package enum ReadyLookUp: Sendable {
    case ready(ReadyEntry)
    /// The tier has no such entry. `entry(for:)` need not be called, and would count a second miss.
    case absent
    /// Only `entry(for:)` can tell.
    case unknown

    /// The entry, if it is ready.
    package var entry: ReadyEntry? { if case .ready(let entry) = self { entry } else { nil } }
}
