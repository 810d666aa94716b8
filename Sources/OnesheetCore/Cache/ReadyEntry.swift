package import NIOCore

/// An optional capability of the built-in tiers: answers on an event loop.
package protocol ImmediateTier: CacheTier {
    /// Looks up an entry that has not expired, without blocking; called on an event loop. Counts a miss if the entry is absent.
    /// - Parameter limit: the largest body to read into memory, in bytes. A larger entry is returned as a file or not at all.
    func entryNow(for key: CacheKey, reading limit: Int) -> ReadyLookUp

    /// The bytes of a file that `entryNow` returned. Reads them from the disk if necessary. `nil` if the file has become shorter.
    func read(_ file: ReadyFile) async throws(CacheError) -> ByteBuffer?
}

/// An optional capability of the built-in tiers: stores entries behind answers, many at once.
package protocol BatchingTier: CacheTier {
    /// Takes an entry, which lookups find from then on, and stores it shortly after, as `store(_:for:ifGeneration:)` does.
    /// - Parameter report: gets, once, what `store` would return or throw. Called on any thread.
    /// - Returns: whether the tier has taken it. If not, because too many wait, `report` is not called.
    func storeLater(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?,
        report: @escaping @Sendable (Result<Bool, CacheError>) -> Void
    ) -> Bool

    /// Waits until what was taken so far is stored. A purge calls it first: a new generation drops what waits.
    func finishStoring() async
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

/// An entry without a wait: with its body in memory, or with the file that has it.
package struct ReadyEntry: Sendable {
    /// The entry; with an empty body if there is a file.
    package let entry: CacheEntry
    /// The file that has the body.
    package let file: ReadyFile?

    package init(_ entry: CacheEntry, file: ReadyFile? = nil) {
        self.entry = entry
        self.file = file
    }
}

/// An open file with the body of an entry. It is closed with its last reference.
package final class ReadyFile: Sendable {
    /// The position of the body in the file.
    package let region: FileRegion
    private let check: @Sendable () -> Bool

    /// - Parameter check: whether the file still holds the same entry and may be used again.
    package init(_ region: FileRegion, check: @escaping @Sendable () -> Bool) {
        self.region = region
        self.check = check
    }

    deinit {
        // The file is open for reading only, so a failed close loses nothing.
        do { try region.fileHandle.close() } catch { assertionFailure("closed before: \(error)") }
    }

    /// Whether the file may be sent again: it still holds the entry, and the entry has not been removed. Never waits for a disk.
    package func isUsable() -> Bool { check() }
}
