/// Reproducible pseudorandom numbers (SplitMix64: Steele, Lea and Flood, “Fast splittable pseudorandom number generators”, OOPSLA
/// 2014).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// From `low` up to `high`.
    mutating func number(_ low: Float, _ high: Float) -> Float {
        low + (high - low) * Float(next() >> 40) * (1 / Float(1 << 24))
    }

    mutating func whole(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
