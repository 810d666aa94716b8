/// Judges what an entry is worth against the entries seen before: the cost to make it again for the room that it takes.
///
/// The scale is relative, so that it works for any unit and any machine: a cache of equally dear entries gives no credit at all.
struct WorthScale {
    private var mean = 0.0

    /// Extra rounds for an entry: one when it is at least four times as dear as usual for its room, two at sixteen times.
    mutating func credit(cost: Double, weight: Int) -> UInt8 {
        guard cost.isFinite, cost >= 0 else { return 0 }
        let density = cost / Double(max(weight, 1))
        guard mean > 0 else {
            mean = density
            return 0
        }
        let ratio = density / mean
        // A running mean over about a thousand entries; one outlier may not move it far.
        mean += (min(density, mean * 64) - mean) / 1024
        return ratio >= 16 ? 2 : ratio >= 4 ? 1 : 0
    }
}
