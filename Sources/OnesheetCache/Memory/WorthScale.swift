internal import Foundation

/// Judges what an entry is worth against the entries seen before: the cost to make it again for the room that it takes.
///
/// The scale is relative, so that it works for any unit and any machine: a cache of equally dear entries gives no credit at all.
struct WorthScale {
    /// The mean of the logarithms, so that a few very dear entries do not make all others look cheap.
    private var mean = 0.0
    private var count = 0.0

    /// Extra rounds for an entry: one when it is at least four times as dear as usual for its room, two at sixteen times.
    mutating func credit(cost: Double, weight: Int) -> UInt8 {
        guard cost.isFinite, cost >= 0 else { return 0 }
        let density = log2(max(cost, 0.001) / Double(max(weight, 1)))
        let lead = count > 0 ? density - mean : 0
        // A running mean over about a thousand entries.
        count = min(count + 1, 1024)
        mean += (density - mean) / count
        return lead >= 4 ? 2 : lead >= 2 ? 1 : 0
    }
}
