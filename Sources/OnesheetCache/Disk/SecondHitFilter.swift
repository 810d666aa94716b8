internal import OnesheetCore

/// Remembers recent attempts to store entries, in two bytes each. On a full disk, an entry that comes for the first time evicts no
/// others; one that comes again does (cache on second hit). The same idea as the ghost list of S3-FIFO in memory.
///
/// A table of buckets with four slots, each first in, first out: bounded and O(1), with one false match in eight thousand.
struct SecondHitFilter: Sendable {
    private static let buckets = 1 << 15
    private static let places = 4
    private var marks = [UInt16](repeating: 0, count: buckets * places)

    /// Records an attempt to store the entry called `name`.
    /// - Returns: whether there was a recent one.
    mutating func note(_ name: Digest128) -> Bool {
        // Names are the start of a SHA-256, so any of their bits serve as a hash.
        let start = Int(truncatingIfNeeded: name.low % UInt64(Self.buckets)) * Self.places
        let mark = UInt16(truncatingIfNeeded: name.high) | 1
        let bucket = start..<start + Self.places
        if marks[bucket].contains(mark) { return true }
        for place in bucket.dropFirst().reversed() { marks[place] = marks[place - 1] }
        marks[start] = mark
        return false
    }
}
