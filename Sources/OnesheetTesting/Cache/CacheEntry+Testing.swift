public import NIOCore
public import OnesheetCore

extension CacheEntry {
    /// An entry for tests.
    public static func sample(
        _ text: String = "poster", at clock: ManualClock, cacheTime: CacheExpiration = .never, tags: [CacheTag] = [],
        cost: Double = 1
    ) -> Self {
        sample(ByteBuffer(string: text), at: clock, cacheTime: cacheTime, tags: tags, cost: cost)
    }

    /// An entry for tests, with this body.
    public static func sample(
        _ body: ByteBuffer, at clock: ManualClock, cacheTime: CacheExpiration = .never, tags: [CacheTag] = [], cost: Double = 1
    ) -> Self {
        Self(
            body: body, mediaType: "image/jpeg", validator: "v\(body.hashValue)", created: clock.now, cacheTime: cacheTime,
            tags: tags,
            cost: cost)
    }
}
