internal import Foundation

/// Compares an entry's worth with that of earlier entries: the cost of making it again, divided by its size.
///
/// The scale is relative, so it suits any unit and any machine. In a cache of equally costly entries none gets credit.
struct WorthScale {
    /// The mean of the logarithms, so that a few very costly entries do not make all others look cheap.
    private var mean = 0.0
    private var count = 0.0

    /// Extra rounds of an entry: one if it is at least four times as costly as the mean for its size, two from sixteen times on.
    mutating func credit(cost: Double, weight: Int) -> UInt8 {
        guard cost.isFinite, cost >= 0 else { return 0 }
        let density = log2(max(cost, 0.001) / Double(max(weight, 1)))
        let lead = count > 0 ? density - mean : 0
        // A running mean of about a thousand entries.
        count = min(count + 1, 1024)
        mean += (density - mean) / count
        return lead >= 4 ? 2 : lead >= 2 ? 1 : 0
    }
}
