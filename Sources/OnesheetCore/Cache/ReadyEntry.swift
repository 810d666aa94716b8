public import NIOCore

/// An entry that a tier had at once: with its body, or with the file to send it from.
public struct ReadyEntry: Sendable {
    /// The entry; without its body where there is a file.
    public let entry: CacheEntry
    /// Where the body is.
    public let file: ReadyFile?

    public init(_ entry: CacheEntry, file: ReadyFile? = nil) { (self.entry, self.file) = (entry, file) }
}

/// An open file with the body of an entry, closed with the last reference.
public final class ReadyFile: Sendable {
    /// The body's place in the file.
    public let region: FileRegion
    private let check: @Sendable () -> Bool

    /// - Parameter check: whether the file still holds the entry that it was opened for, and is to be used once more.
    public init(_ region: FileRegion, check: @escaping @Sendable () -> Bool) { (self.region, self.check) = (region, check) }

    deinit {
        // It was only read, so that nothing can be lost by a failure.
        do { try region.fileHandle.close() } catch { assertionFailure("closed before: \(error)") }
    }

    /// Whether the file may be sent once more: it still holds the entry, which has not been removed. Waits for no disk.
    public func isUsable() -> Bool { check() }
}
