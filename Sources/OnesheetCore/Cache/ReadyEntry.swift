package import NIOCore

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
