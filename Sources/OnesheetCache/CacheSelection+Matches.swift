import FoundationEssentials
import OnesheetCore

extension CacheSelection {
    /// Whether the selection matches `entry`, which expires at `end`.
    func matches(_ entry: CacheEntry, end: Date?, now: Date) -> Bool {
        switch self {
        case .all: true
        case .expired: !ExpirationPolicy.isAlive(created: entry.created, end: end, now: now)
        case .tag(let tag): entry.tags.contains(tag)
        }
    }
}
