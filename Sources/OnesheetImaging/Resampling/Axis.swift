import CImagingKernels

/// The table of weights of one direction, as the kernels read it: immutable, and so shared between renders.
final class Axis: Sendable {
    let outputs: Int
    /// Weights of each output, a whole number of steps; those that an output has no use for are zero.
    let taps: Int
    /// The first sample of each output's weights. `starts[i] + taps` passes `samples` only where `taps` is more than `samples`.
    let starts: [Int32]
    let weights: [Int16]
    /// One past the last sample that each output really needs.
    let ends: [Int32]
    /// Samples that a row has.
    let samples: Int

    /// - Parameters:
    ///   - samples: how many there are, whether they may be looked at or not.
    ///   - step: `taps` is a multiple of this.
    init(_ stretch: Stretch, samples: Int, step: Int) {
        let windows = (0..<stretch.outputs).map(stretch.window)
        let longest = windows.reduce(0) { max($0, $1.count) }
        let taps = (longest + step - 1) / step * step
        var starts = [Int32](repeating: 0, count: stretch.outputs)
        var ends = starts
        var weights = [Int16](repeating: 0, count: stretch.outputs * taps)
        for (index, window) in windows.enumerated() {
            // Moved to the left where it would reach past the row, with zeros in front.
            let start = max(min(window.lowerBound, samples - taps), 0)
            starts[index] = Int32(start)
            ends[index] = Int32(window.upperBound)
            let whole = Self.whole(stretch.weights(index, window))
            for (tap, weight) in whole.enumerated() { weights[index * taps + window.lowerBound - start + tap] = weight }
        }
        (outputs, self.taps, self.samples) = (stretch.outputs, taps, samples)
        (self.starts, self.weights, self.ends) = (starts, weights, ends)
    }

    /// Weights as whole numbers that add up to exactly one, so that an even area stays even. What rounding takes from one weight
    /// goes to the next: with thousands of taps each would round to nothing.
    private static func whole(_ weights: [Double]) -> [Int16] {
        let one = Double(1 << CK_WEIGHT_BITS)
        var (exact, given) = (0.0, 0)
        return weights.map { weight in
            exact += weight * one
            let whole = Int(exact.rounded()) - given
            given += whole
            return Int16(clamping: whole)
        }
    }
}
