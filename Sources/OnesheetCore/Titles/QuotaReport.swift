public import FoundationEssentials

/// A service's quota at one moment.
public struct QuotaReport: Sendable, Equatable, Encodable {
    /// Distinguishes several quotas of one source: `kobis`, `kakao`.
    public let name: String
    /// The calls of a day; `nil` if calls are not counted.
    public let perDay: Int?
    /// The calls made today; `nil` if calls are not counted.
    public let spent: Int?
    /// The calls of a day that are reserved for interactive requests; `nil` if calls are not counted.
    public let reserve: Int?
    /// Whether no call is left.
    public let isExhausted: Bool
    /// The time at which the quota resets.
    public let fullAt: Date

    public init(name: String, perDay: Int?, spent: Int?, reserve: Int?, isExhausted: Bool, fullAt: Date) {
        self.name = name
        self.perDay = perDay
        self.spent = spent
        self.reserve = reserve
        self.isExhausted = isExhausted
        self.fullAt = fullAt
    }
}
