public import NIOCore

/// An entry that a tier had at once: with its body, or with the file to send it from.
public struct ReadyEntry: Sendable {
    /// The entry; without its body where there is a file.
    public let entry: CacheEntry
    /// Where the body is. Whoever gets it closes its `fileHandle`.
    public let file: FileRegion?

    public init(_ entry: CacheEntry, file: FileRegion? = nil) { (self.entry, self.file) = (entry, file) }
}
