/// What a configuration says about the freshness of a source's originals, beside what their origin says (RFC 9111, RFC 5861).
public struct FreshnessSettings: Sendable, Decodable, Hashable {
    /// For so long an original is fresh at least. It does not make storable what the origin forbids to store.
    public var minimum: Interval?
    /// For so long an original is fresh at most.
    public var maximum: Interval?
    /// For so long an original past its time is served while it is fetched again, where the origin says nothing.
    public var staleWhileRevalidate: Interval?
    /// For so long it is served when fetching it again fails, where the origin says nothing.
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
