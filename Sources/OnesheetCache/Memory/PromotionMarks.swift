internal import OnesheetCore

/// The number of stores and removals when a promotion began.
struct PromotionMark: Equatable, Sendable {
    fileprivate let all: Int
    fileprivate let key: UInt32
}

/// Counts stores and removals in a fixed number of groups of keys. A promotion that began before one of them is refused. Two keys
/// in one group sometimes cost a promotion but never give a wrong answer.
struct PromotionMarks {
    private var all = 0
    private var groups = [UInt32](repeating: 0, count: 1024)

    func mark(for key: CacheKey) -> PromotionMark { PromotionMark(all: all, key: groups[key.group]) }
    mutating func pass(_ key: CacheKey) { groups[key.group] &+= 1 }
    mutating func passAll() { all += 1 }
}

extension CacheKey {
    /// One of 1024 groups of keys.
    fileprivate var group: Int { Int(hash >> 32) & 1023 }
}
