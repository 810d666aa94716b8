public import FoundationEssentials

/// When a cached entry expires: no tier returns it afterwards. Until when it is fresh is another question (`Freshness`).
public enum CacheExpiration: Hashable, Sendable {
    case never
    case seconds(Double)
    case days(Int)
    case date(Date)

    /// The moment at which an entry stored at `now` expires; `nil` for never.
    public func moment(from now: Date) -> Date? {
        switch self {
        case .never: nil
        case .seconds(let seconds): now.addingTimeInterval(seconds)
        case .days(let days): now.addingTimeInterval(Double(days) * 86_400)
        case .date(let date): date
        }
    }
}

/// The effect of a read on the expiration of an entry.
public enum ExpirationExtending: Hashable, Sendable {
    /// None.
    case none
    /// The entry lives its whole lifetime again, counted from the read.
    case cacheTime
    /// The entry gets this expiration, counted from the read.
    case newExpiration(CacheExpiration)

    /// The new moment of expiry for an entry with the lifetime `cacheTime` that is read at `now`; `nil` leaves it unchanged.
    public func moment(from now: Date, cacheTime: CacheExpiration) -> Date?? {
        switch self {
        case .none: nil
        case .cacheTime: .some(cacheTime.moment(from: now))
        case .newExpiration(let expiration): .some(expiration.moment(from: now))
        }
    }
}
