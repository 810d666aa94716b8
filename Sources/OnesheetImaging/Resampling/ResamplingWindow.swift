/// Resampling in one direction: the part of a row to resample, and the number of output samples.
struct ResamplingWindow: Hashable, Sendable {
    /// The start and the length of the part in samples; sample i covers i to i + 1.
    var start: Double
    var length: Double
    var outputs: Int
    /// The samples that may be read.
    var bounds: Range<Int>
    var kernel: Kernel

    /// - Parameter kernel: `nil` selects the one for shrinking or for enlarging.
    init(start: Double, length: Double, outputs: Int, bounds: Range<Int>, kernel: Kernel? = nil) {
        self.start = start
        self.length = length
        self.outputs = outputs
        self.bounds = bounds
        self.kernel = kernel ?? (length < Double(outputs) ? .catmullRom : .lanczos3)
    }

    /// Input samples per output sample; above 1 when shrinking.
    var scale: Double { length / Double(outputs) }

    /// The input samples of output `index`.
    func window(_ index: Int) -> Range<Int> {
        let reach = kernel.support * max(scale, 1)
        let center = center(index)
        let first = max(Int((center - reach + 0.5).rounded(.down)), bounds.lowerBound)
        let last = min(Int((center + reach - 0.5).rounded(.up)), bounds.upperBound - 1)
        // Rounding can place the centre of an edge sample outside the bounds. It still uses the nearest sample.
        let nearest = min(max(Int(center.rounded(.down)), bounds.lowerBound), bounds.upperBound - 1)
        return min(first, nearest)..<max(last, nearest) + 1
    }

    func center(_ index: Int) -> Double { start + (Double(index) + 0.5) * scale }

    /// The weights of the samples in the window of output `index`. Their sum is 1, also at the edges.
    func weights(_ index: Int, _ window: Range<Int>) -> [Double] {
        let (center, resampling) = (center(index), max(scale, 1))
        let weights = window.map { kernel.weight((Double($0) + 0.5 - center) / resampling) }
        let sum = weights.reduce(0, +)
        guard abs(sum) > 1e-6 else { return window.map { _ in 1 / Double(window.count) } }
        return weights.map { $0 / sum }
    }

    /// An upper bound of the samples for one output.
    var tapsAtMost: Int { min(Self.taps(kernel, scale: scale), bounds.count) }

    /// The same for any bounds.
    static func taps(_ kernel: Kernel, scale: Double) -> Int { Int((2 * kernel.support * max(scale, 1)).rounded(.up)) + 2 }

    /// From this many samples per output on, samples are averaged in boxes first.
    static let boxed = 32.0
    /// The samples per output that remain after that: enough to make the boxes invisible.
    private static let unboxed = 8.0
    /// A larger box would overflow its sums.
    private static let largestBox = 1 << 15

    /// The number of boxes for the readable samples; `nil` if they are not averaged first.
    var boxes: Int? {
        guard kernel == .lanczos3, scale >= Self.boxed else { return nil }
        let size = min(Int(scale / Self.unboxed), Self.largestBox)
        return (bounds.count + size - 1) / size
    }

    /// The same window over `count` boxes instead of the samples within `bounds`.
    func inBoxes(_ count: Int) -> ResamplingWindow {
        let share = Double(count) / Double(bounds.count)
        return ResamplingWindow(
            start: (start - Double(bounds.lowerBound)) * share, length: length * share, outputs: outputs, bounds: 0..<count,
            kernel: kernel)
    }

    /// The same after averaging pairs of samples.
    var halved: ResamplingWindow {
        ResamplingWindow(
            start: start / 2, length: length / 2, outputs: outputs, bounds: bounds.lowerBound / 2..<(bounds.upperBound + 1) / 2,
            kernel: kernel)
    }

    /// Whether pairs of samples may be averaged first: at least two averages remain for each output, and no pair crosses the
    /// bounds. Loses some sharpness, which is visible in luma but not in chroma.
    func canBeHalved(samples: Int) -> Bool {
        scale >= 4 && bounds.lowerBound % 2 == 0 && (bounds.upperBound % 2 == 0 || bounds.upperBound == samples)
    }
}
