/// The daily quota of a service.
public struct QuotaSettings: Sendable, Decodable, Equatable {
    public var perDay: Int
    /// The share that is reserved for interactive calls. Prefetching stops there.
    public var reserve: Double
    /// The share for calls about unknown titles (`Familiarity`). A quarter of it is available at once and the rest over the day; 1
    /// is no limit.
    public var unknown: Double

    private enum CodingKeys: CodingKey { case perDay, reserve, unknown }

    /// - Precondition: `perDay` is positive, `reserve` and `unknown` are shares from 0 to 1.
    public init(perDay: Int, reserve: Double = 0.1, unknown: Double = 0.5) {
        precondition(perDay > 0 && (0...1).contains(reserve), "a quota has calls, and a share of them is kept")
        precondition((0...1).contains(unknown), "what is unknown has a share of the calls")
        (self.perDay, self.reserve, self.unknown) = (perDay, reserve, unknown)
    }

    public init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        let perDay = try keys.decode(Int.self, forKey: .perDay)
        guard perDay > 0 else {
            throw ConfigurationError(path: keys.codingPath + [CodingKeys.perDay], message: "needs a number from 1")
        }
        self.init(
            perDay: perDay, reserve: try Self.share(.reserve, in: keys) ?? 0.1, unknown: try Self.share(.unknown, in: keys) ?? 0.5)
    }

    private static func share(_ key: CodingKeys, in keys: KeyedDecodingContainer<CodingKeys>) throws -> Double? {
        guard let share = try keys.decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard (0...1).contains(share) else {
            throw ConfigurationError(path: keys.codingPath + [key], message: "needs a share from 0 to 1, such as 0.1")
        }
        return share
    }

    /// The calls of a day that work of this urgency may use.
    func limit(_ urgency: Urgency) -> Int {
        urgency == .prefetch ? perDay - Int((Double(perDay) * reserve).rounded(.up)) : perDay
    }
}
