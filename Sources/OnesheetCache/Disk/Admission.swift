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

extension DiskStore {
    /// Whether `row` is to be stored: always while there is room for it, and where others would have to go for it only if it came before
    /// or is ordered (`isOrdered`: a prefetch). Metadata, which costs calls of a service to get again and is small, always is.
    func admits(_ row: IndexRow, isOrdered: Bool, in folder: OpenFolder) throws -> Bool {
        let cameBefore = admission.withLock { $0.note(row.name) }
        if cameBefore || isOrdered || row.key.kind == .metadata { return true }
        guard try evictsOthers(row, in: folder) else { return true }
        // One that takes the place of its predecessor is no newcomer.
        return try folder.index.contains(row.name)
    }

    /// Whether other entries would have to go for `row`. If the disk is full of other files, none would: that is an error to be told.
    private func evictsOthers(_ row: IndexRow, in folder: OpenFolder) throws -> Bool {
        let totals = try folder.index.totals()
        guard (totals[row.key.kind]?.bytes ?? 0) + row.bytes <= settings.budgets[row.key.kind] else { return true }
        let lack = try lack(of: row.bytes)
        return lack > 0 && totals.values.reduce(0) { $0 + $1.bytes } >= lack
    }
}
