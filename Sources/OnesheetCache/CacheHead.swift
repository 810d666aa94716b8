internal import NIOCore
package import OnesheetCore

/// An entry without its body, and its tier.
package struct CacheHead: Sendable {
    /// Its body is empty.
    package let entry: CacheEntry
    /// The bytes of the body.
    package let size: Int
    /// The tier's name: `memory`, `disk`.
    package let tier: String

    package init(_ entry: CacheEntry, size: Int, tier: String) {
        var head = entry
        head.body = ByteBuffer()
        self.entry = head
        self.size = size
        self.tier = tier
    }
}
