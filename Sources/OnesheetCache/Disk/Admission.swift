internal import OnesheetCore
internal import Synchronization

/// Remembers which entries were to be stored lately, by two bytes each: on a full disk what comes for the first time is not worth
/// evicting others for, what comes again is. As the ghosts of S3-FIFO, which memory has.
///
/// A table of buckets with four places, each first in, first out: bounded, O(1), and one in eight thousand is taken for another.
struct Admission: Sendable {
    private static let buckets = 1 << 15
    private static let places = 4
    private var marks = [UInt16](repeating: 0, count: buckets * places)

    /// Notes that the entry called `name` is to be stored.
    /// - Returns: whether it was lately, too.
    mutating func note(_ name: Digest128) -> Bool {
        // Names are the start of a SHA-256: any bits of them are as good as a hash.
        let start = Int(truncatingIfNeeded: name.low % UInt64(Self.buckets)) * Self.places
        let mark = UInt16(truncatingIfNeeded: name.high) | 1
        let bucket = start..<start + Self.places
        if marks[bucket].contains(mark) { return true }
        for place in bucket.dropFirst().reversed() { marks[place] = marks[place - 1] }
        marks[start] = mark
        return false
    }
}
