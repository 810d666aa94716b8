public import FoundationEssentials
public import NIOCore

/// Bytes in a tier, with what is known about them.
public struct CacheEntry: Sendable, Equatable {
    /// Ready to send: storing and answering share this buffer and never copy it.
    public var body: ByteBuffer
    /// Media type (RFC 9110 §8.3), such as `image/jpeg`.
    public var mediaType: String
    /// Strong validator (RFC 9110 §8.8.3) without quotes: a hash of the bytes.
    public var validator: String
    public var created: Date
    /// How long the entry was stored for; `ExpirationExtending.cacheTime` starts it again.
    public var cacheTime: CacheExpiration
    /// When it expires; `nil` is never.
    public var expires: Date?
    public var tags: [CacheTag]
    /// What it costs to make the entry again, in milliseconds.
    public var cost: Double
    /// Facts about the entry that its reader needs without reading the body, such as the origin's address.
    public var notes: [String: String]

    /// - Parameters:
    ///   - validator: a hash of `body`, such as `Validator.of(body)` gives.
    ///   - cost: milliseconds that it took to make the entry.
    public init(
        body: ByteBuffer, mediaType: String, validator: String, created: Date, cacheTime: CacheExpiration,
        tags: [CacheTag] = [], cost: Double = 0, notes: [String: String] = [:]
    ) {
        self.body = body
        self.mediaType = mediaType
        self.validator = validator
        self.created = created
        self.cacheTime = cacheTime
        self.expires = cacheTime.moment(from: created)
        self.tags = tags
        self.cost = cost
        self.notes = notes
    }

    /// Whether the entry is past its time at `now`.
    public func isExpired(at now: Date) -> Bool {
        guard let expires else { return false }
        return expires <= now
    }
}
