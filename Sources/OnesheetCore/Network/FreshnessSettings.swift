/// The configured freshness of a source's originals, in addition to their response headers (RFC 9111, RFC 5861).
public struct FreshnessSettings: Sendable, Decodable, Hashable {
    /// The least time for which an original is fresh. It does not override the origin's `no-store` or `private`.
    public var minimum: Interval?
    /// The longest time for which an original is fresh.
    public var maximum: Interval?
    /// The time for which a stale original is served during revalidation, if the origin does not say.
    public var staleWhileRevalidate: Interval?
    /// The time for which a stale original is served if revalidation fails, if the origin does not say.
    public var staleIfError: Interval?

    private enum CodingKeys: CodingKey { case minimum, maximum, staleWhileRevalidate, staleIfError }

    public init() {}

    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        minimum = try keys.decodeIfPresent(Interval.self, forKey: .minimum)
        maximum = try keys.decodeIfPresent(Interval.self, forKey: .maximum)
        staleWhileRevalidate = try keys.decodeIfPresent(Interval.self, forKey: .staleWhileRevalidate)
        staleIfError = try keys.decodeIfPresent(Interval.self, forKey: .staleIfError)
        if let minimum, let maximum, minimum.duration > maximum.duration {
            throw DecodingError.dataCorruptedError(
                forKey: .minimum, in: keys, debugDescription: "the minimum of the freshness is longer than its maximum")
        }
    }
}
