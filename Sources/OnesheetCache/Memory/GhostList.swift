/// Hashes of entries that left the small queue unused.
///
/// A removed hash stays in the ring as a stale slot, which its turn number reveals.
struct GhostList {
    private var turns: [UInt: Int] = [:]
    private var ring: [(hash: UInt, turn: Int)] = []
    private var first = 0
    private var turn = 0

    mutating func insert(_ hash: UInt, limit: Int) {
        turn += 1
        turns[hash] = turn
        ring.append((hash, turn))
        while turns.count > limit || ring.count - first > 2 * limit { forgetOldest() }
        if first > 1024, first * 2 > ring.count {
            ring.removeFirst(first)
            first = 0
        }
    }

    /// Removes `hash` and returns whether it was there.
    mutating func remove(_ hash: UInt) -> Bool { turns.removeValue(forKey: hash) != nil }

    private mutating func forgetOldest() {
        guard first < ring.count else { return }
        let (hash, turn) = ring[first]
        if turns[hash] == turn { turns[hash] = nil }
        first += 1
    }
}
