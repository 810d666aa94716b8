public import FoundationEssentials
public import NIOCore

/// Bytes in a tier, and the facts about them.
///
/// One reference holds all of it, because an entry is copied for every request that it answers and is hardly ever changed.
public struct CacheEntry: Sendable {
    private struct Parts: Equatable {
        var body: ByteBuffer
        var mediaType: String
        var validator: String
        var created: Date
        var cacheTime: CacheExpiration
        var expires: Date?
        var tags: [CacheTag]
        var cost: Double
        var freshness: Freshness?
        var provenance: Provenance
        var presentation: Presentation
    }

    private final class Storage: Sendable {
        let parts: Parts
        init(_ parts: Parts) { self.parts = parts }
    }

    private var storage: Storage

    /// - Parameters:
    ///   - validator: a hash of `body`, such as `Validator.of(body)`.
    ///   - cost: milliseconds spent on making the entry.
    ///   - freshness: how long the origin of the original allows to serve it. A variant has the freshness of its original.
    public init(
        body: ByteBuffer, mediaType: String, validator: String, created: Date, cacheTime: CacheExpiration,
        tags: [CacheTag] = [], cost: Double = 0, freshness: Freshness? = nil, provenance: Provenance = Provenance(),
        presentation: Presentation = Presentation()
    ) {
        storage = Storage(
            Parts(
                body: body, mediaType: mediaType, validator: validator, created: created, cacheTime: cacheTime,
                expires: cacheTime.moment(from: created), tags: tags, cost: cost, freshness: freshness,
                provenance: provenance, presentation: presentation))
    }

    /// Storing and sending share this buffer and never copy it.
    public var body: ByteBuffer {
        get { storage.parts.body }
        set { change { $0.body = newValue } }
    }
    /// Media type (RFC 9110 §8.3), such as `image/jpeg`.
    public var mediaType: String {
        get { storage.parts.mediaType }
        set { change { $0.mediaType = newValue } }
    }
    /// Strong validator (RFC 9110 §8.8.3) without quotes: a hash of the bytes.
    public var validator: String {
        get { storage.parts.validator }
        set { change { $0.validator = newValue } }
    }
    public var created: Date {
        get { storage.parts.created }
        set { change { $0.created = newValue } }
    }
    /// How long the entry was stored for; `ExpirationExtending.cacheTime` starts it again.
    public var cacheTime: CacheExpiration {
        get { storage.parts.cacheTime }
        set { change { $0.cacheTime = newValue } }
    }
    /// The moment of expiry; `nil` is never.
    public var expires: Date? {
        get { storage.parts.expires }
        set { change { $0.expires = newValue } }
    }
    public var tags: [CacheTag] {
        get { storage.parts.tags }
        set { change { $0.tags = newValue } }
    }
    /// The cost of making the entry again, in milliseconds.
    public var cost: Double {
        get { storage.parts.cost }
        set { change { $0.cost = newValue } }
    }
    /// How long the origin of the original allows to serve it. A variant has the freshness of its original. `nil` if the original
    /// did not come over HTTP.
    public var freshness: Freshness? {
        get { storage.parts.freshness }
        set { change { $0.freshness = newValue } }
    }
    /// The origin of the bytes.
    public var provenance: Provenance {
        get { storage.parts.provenance }
        set { change { $0.provenance = newValue } }
    }
    /// The look of the picture.
    public var presentation: Presentation {
        get { storage.parts.presentation }
        set { change { $0.presentation = newValue } }
    }

    private mutating func change(_ change: (inout Parts) -> Void) {
        var parts = storage.parts
        change(&parts)
        storage = Storage(parts)
    }
}

extension CacheEntry: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        left.storage === right.storage || left.storage.parts == right.storage.parts
    }
}
