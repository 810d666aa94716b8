import OnesheetCore

/// The newest purge of each tag, by its position in the log.
struct PurgeTable: Sendable {
    /// An entry with an older stamp is purged, whatever its tags are.
    private(set) var floor = LogPosition.start
    private var positions: [CacheTag: LogPosition] = [:]
    private let limit: Int

    /// - Parameter limit: the most tags. Beyond them, the older half is forgotten, and everything from before it counts as purged.
    init(limit: Int = 65_536) { self.limit = limit }

    /// Notes a purge at `position`.
    mutating func note(_ scope: PurgeScope, at position: LogPosition) {
        if scope.isAll { return raise(to: position) }
        for tag in scope.elements { positions[tag] = max(positions[tag] ?? position, position) }
        guard positions.count > limit else { return }
        let sorted = positions.values.sorted()
        raise(to: sorted[sorted.count / 2])
    }

    /// Everything with a stamp older than `position` counts as purged.
    mutating func raise(to position: LogPosition) {
        guard position > floor else { return }
        floor = position
        positions = positions.filter { $0.value > position }
    }

    /// Whether a purge that concerns an entry with these tags came after its stamp.
    func isPurged(_ stamp: LogPosition, tags: [CacheTag]) -> Bool {
        if stamp < floor { return true }
        return !positions.isEmpty && tags.contains { positions[$0].map { stamp < $0 } ?? false }
    }

    var count: Int { positions.count }
}
