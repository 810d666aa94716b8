/// Finds the slot of a key by its hash: open addressing with linear probing.
///
/// A dictionary would hash the hash again, which takes half the time of a lookup. The caller resolves hash collisions.
struct PositionTable {
    private struct Place {
        var hash: UInt = 0
        var position = -1
    }

    private(set) var count = 0
    private var places = [Place](repeating: Place(), count: 16)

    /// Inlined, because a call for each probe costs more than the probe.
    @inline(__always)
    func position(of hash: UInt, where isMeant: (Int) -> Bool) -> Int? {
        var index = home(hash)
        while places[index].position >= 0 {
            if places[index].hash == hash, isMeant(places[index].position) { return places[index].position }
            index = after(index)
        }
        return nil
    }

    /// Adds a new position.
    mutating func add(_ position: Int, under hash: UInt) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        place(position, hash)
        count += 1
    }

    /// Removes an existing position and moves up those behind it, so that no search ends early.
    mutating func remove(_ position: Int, under hash: UInt) {
        var hole = home(hash)
        while places[hole].position != position { hole = after(hole) }
        var index = after(hole)
        while places[index].position >= 0 {
            let isFromBefore = (index &- home(places[index].hash)) & (places.count - 1) >= (index &- hole) & (places.count - 1)
            if isFromBefore {
                places[hole] = places[index]
                hole = index
            }
            index = after(index)
        }
        places[hole] = Place()
        count -= 1
    }

    private mutating func place(_ position: Int, _ hash: UInt) {
        var index = home(hash)
        while places[index].position >= 0 { index = after(index) }
        places[index] = Place(hash: hash, position: position)
    }

    private mutating func grow() {
        let old = places
        places = [Place](repeating: Place(), count: old.count * 2)
        for item in old where item.position >= 0 { place(item.position, item.hash) }
    }

    private func home(_ hash: UInt) -> Int { Int(truncatingIfNeeded: hash) & (places.count - 1) }
    private func after(_ index: Int) -> Int { (index + 1) & (places.count - 1) }
}
