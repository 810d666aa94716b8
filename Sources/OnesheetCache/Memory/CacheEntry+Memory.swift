internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore

extension CacheEntry {
    /// The memory that an entry occupies: its body, its texts, and about 600 bytes for the rest.
    func weight(under key: CacheKey) -> Int {
        var weight =
            max(body.storageCapacity, body.readableBytes) + 600 + 2 * key.text.utf8.count + mediaType.utf8.count
            + validator.utf8.count
        for tag in tags { weight += tag.description.utf8.count + 32 }
        for text in [
            freshness?.entityTag, freshness?.lastModified, provenance.location, provenance.page, provenance.site,
            provenance.original, presentation.thumbHash,
        ] {
            if let text { weight += text.utf8.count + 32 }
        }
        return weight
    }

    /// The same entry in a buffer of its own, if its body is a small part of a larger buffer, which it would keep alive.
    func compacted() -> CacheEntry {
        guard body.storageCapacity > 2 * body.readableBytes, body.storageCapacity > 256 else { return self }
        var own = ByteBuffer()
        own.reserveCapacity(body.readableBytes)
        own.writeImmutableBuffer(body)
        var compact = self
        compact.body = own
        return compact
    }

    /// Records that a read has extended the entry's lifetime to `end`.
    mutating func outlive(_ end: Date?) {
        guard let expires else { return }
        self.expires = end.map { max($0, expires) }
    }
}
