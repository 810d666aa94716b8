package import NIOCore

/// A tier that has some entries ready on an event loop: a capability of the tiers that the server brings along.
package protocol ImmediateTier: CacheTier {
    /// The fresh entry under `key` if it can be had at once: an event loop asks, so nothing may be waited for. `nil` says nothing about
    /// whether it is there.
    /// - Parameter limit: up to how many bytes an entry may be read into memory. A larger one is answered as a file, or not.
    func entryNow(for key: CacheKey, reading limit: Int) -> ReadyEntry?
}

/// An entry that a tier had at once: with its body, or with the file to send it from.
package struct ReadyEntry: Sendable {
    /// The entry; without its body if there is a file.
    package let entry: CacheEntry
    /// The file with the body.
    package let file: ReadyFile?

    package init(_ entry: CacheEntry, file: ReadyFile? = nil) { (self.entry, self.file) = (entry, file) }
}

/// An open file with the body of an entry, closed with its last reference.
package final class ReadyFile: Sendable {
    /// The body's place in the file.
    package let region: FileRegion
    private let check: @Sendable () -> Bool

    /// - Parameter check: whether the file still holds the entry that it was opened for, and is to be used once more.
    package init(_ region: FileRegion, check: @escaping @Sendable () -> Bool) { (self.region, self.check) = (region, check) }

    deinit {
        // It was only read, so that nothing can be lost by a failure.
        do { try region.fileHandle.close() } catch { assertionFailure("closed before: \(error)") }
    }

    /// Whether the file may be sent once more: it still holds the entry, which has not been removed. Waits for no disk.
    package func isUsable() -> Bool { check() }
}
