package import FoundationEssentials
package import OnesheetCore

/// How long a tier keeps an entry: as long as the entry allows, and at most as long as the tier allows.
package struct ExpirationPolicy: Sendable {
    /// The longest lifetime of an unread entry.
    let limit: CacheExpiration
    let extending: ExpirationExtending
    /// Whether a read can change an expiry at all. Known without the entry.
    let isExtending: Bool

    /// If the clock was set back by more than this, entries expire. Otherwise they would outlive their time by as much.
    static let clockSlack: Double = 300

    package init(limit: CacheExpiration, extending: ExpirationExtending) {
        self.limit = limit
        self.extending = extending
        isExtending = extending != .none
    }

    /// The expiry of an entry stored at `now`; `nil` is never.
    package func end(of entry: CacheEntry, now: Date) -> Date? {
        earlier(entry.expires, limit.moment(from: now))
    }

    /// The expiry after a read at `now`; `nil` leaves it unchanged.
    func extended(_ end: Date?, cacheTime: CacheExpiration, now: Date) -> Date?? {
        guard let moment = extending.moment(from: now, cacheTime: cacheTime) else { return nil }
        switch extending {
        case .newExpiration: return .some(moment)
        case .cacheTime, .none: return .some(earlier(moment, limit.moment(from: now)))
        }
    }

    /// Whether an entry created at `created` that expires at `end` has not expired at `now`. Whether it is fresh is another question, which
    /// `CacheEntry.state(at:)` answers.
    package static func isAlive(created: Date, end: Date?, now: Date) -> Bool {
        guard isPast(created, now: now) else { return false }
        guard let end else { return true }
        return now < end
    }

    /// Whether `moment` is not after `now`. If it is, by more than the slack, the clock was set back and the time since is unknown.
    package static func isPast(_ moment: Date, now: Date) -> Bool { moment.timeIntervalSince(now) <= clockSlack }

    private func earlier(_ left: Date?, _ right: Date?) -> Date? {
        guard let left else { return right }
        guard let right else { return left }
        return min(left, right)
    }
}
