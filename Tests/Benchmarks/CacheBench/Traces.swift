import Foundation

/// Generated traces of requests, equal in every run.
struct Trace {
    let name: String
    let keys: [Int]

    static let all = [zipf(), scanMixed(), dayShift()]

    /// A hundred thousand posters, requested by Zipf's law.
    static func zipf() -> Trace {
        var random = Xorshift(seed: 1)
        let law = Zipf(count: 100_000, exponent: 0.9)
        return Trace(name: "Zipf 0.9", keys: (0..<1_000_000).map { _ in law.sample(&random) })
    }

    /// The same with scans: after every twenty thousand requests, five thousand posters that are never requested again, like a
    /// prefetch or a crawler.
    static func scanMixed() -> Trace {
        var random = Xorshift(seed: 2)
        let law = Zipf(count: 100_000, exponent: 0.9)
        var keys: [Int] = []
        var next = 1_000_000
        while keys.count < 1_000_000 {
            for _ in 0..<20_000 { keys.append(law.sample(&random)) }
            for _ in 0..<5000 {
                keys.append(next)
                next += 1
            }
        }
        return Trace(name: "scan-mixed", keys: keys)
    }

    /// Ten days. On each, new posters replace a third of the popular ones.
    static func dayShift() -> Trace {
        var random = Xorshift(seed: 3)
        let law = Zipf(count: 50_000, exponent: 0.9)
        var posters = Array(0..<50_000)
        var next = 50_000
        var keys: [Int] = []
        for _ in 0..<10 {
            for _ in 0..<100_000 { keys.append(posters[law.sample(&random)]) }
            for rank in posters.indices where random.next() % 3 == 0 {
                posters[rank] = next
                next += 1
            }
        }
        return Trace(name: "day-shift", keys: keys)
    }
}

/// Ranks by Zipf's law.
struct Zipf {
    private let sums: [Double]

    init(count: Int, exponent: Double) {
        var sum = 0.0
        sums = (1...count).map { rank in
            sum += 1 / pow(Double(rank), exponent)
            return sum
        }
    }

    func sample(_ random: inout Xorshift) -> Int {
        let wanted = Double(random.next() >> 11) / Double(1 << 53) * (sums.last ?? 0)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Random numbers, equal in every run.
struct Xorshift: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
