package import FoundationEssentials
internal import OnesheetCore

/// How long a tier keeps an entry: as long as the entry says, at most as long as the tier allows.
package struct ExpirationPolicy: Sendable {
    /// The longest that an unread entry stays.
    let limit: CacheExpiration
    let extending: ExpirationExtending
    /// Whether reading can change an entry's end at all: known without a look at the entry.
    let isExtending: Bool

    /// A clock that was set back by more than this makes entries expire: they would otherwise outlive their time by as much.
    static let clockSlack: Double = 300

    init(limit: CacheExpiration, extending: ExpirationExtending) {
        (self.limit, self.extending, isExtending) = (limit, extending, extending != .none)
    }

    /// Until when an entry stored at `now` stays; `nil` is for ever.
    func end(of entry: CacheEntry, now: Date) -> Date? {
        earlier(entry.expires, limit.moment(from: now))
    }

    /// The end after a reading at `now`; `nil` if reading changes nothing.
    func extended(_ end: Date?, cacheTime: CacheExpiration, now: Date) -> Date?? {
        guard let moment = extending.moment(from: now, cacheTime: cacheTime) else { return nil }
        switch extending {
        case .newExpiration: return .some(moment)
        case .cacheTime, .none: return .some(earlier(moment, limit.moment(from: now)))
        }
    }

    /// Whether an entry created at `created` that ends at `end` may be served at `now`.
    package static func isFresh(created: Date, end: Date?, now: Date) -> Bool {
        guard created.timeIntervalSince(now) <= clockSlack else { return false }
        guard let end else { return true }
        return now < end
    }

    private func earlier(_ left: Date?, _ right: Date?) -> Date? {
        guard let left else { return right }
        guard let right else { return left }
        return min(left, right)
    }
}
