internal import OnesheetCore

/// What had been stored and removed when a promotion began.
struct PromotionMark: Equatable, Sendable {
    fileprivate let all: Int
    fileprivate let key: UInt32
}

/// Counts stores and removals, by key in a fixed number of groups, so that a promotion begun before one of them is refused after it.
/// Two keys in one group cost a promotion now and then, never a wrong answer.
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
