import CImagingKernels
import OnesheetCore
import Synchronization

/// The table of weights of one direction, as the kernels read it: immutable, and so shared between renders.
final class FilterTable: Sendable {
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
    /// - Throws: `CodecError.timedOut`; a table may have millions of rows.
    convenience init(_ resampling: ResamplingWindow, samples: Int, step: Int, by deadline: Deadline = .never) throws(CodecError) {
        var longest = 0
        for index in 0..<resampling.outputs { longest = max(longest, resampling.window(index).count) }
        let taps = (longest + step - 1) / step * step
        try self.init(resampling, 0..<resampling.outputs, taps: taps, samples: samples) { () throws(CodecError) in
            try deadline.check()
        }
    }

    /// The part of a table for some of the outputs, which have no more than `taps` weights.
    /// - Parameter pause: called now and then.
    init<Failure: Error>(
        _ resampling: ResamplingWindow, _ outputs: Range<Int>, taps: Int, samples: Int, pause: () throws(Failure) -> Void
    ) throws(Failure) {
        var starts = [Int32](repeating: 0, count: outputs.count)
        var ends = starts
        var weights = [Int16](repeating: 0, count: outputs.count * taps)
        for (index, output) in outputs.enumerated() {
            if index % 4096 == 4095 { try pause() }
            let window = resampling.window(output)
            // Moved to the left where it would reach past the row, with zeros in front.
            let start = max(min(window.lowerBound, samples - taps), 0)
            starts[index] = Int32(start)
            ends[index] = Int32(window.upperBound)
            let whole = Self.whole(resampling.weights(output, window))
            for (tap, weight) in whole.enumerated() { weights[index * taps + window.lowerBound - start + tap] = weight }
        }
        (self.outputs, self.taps, self.samples) = (outputs.count, taps, samples)
        (self.starts, self.weights, self.ends) = (starts, weights, ends)
    }

    var bytes: Int { Self.bytes(outputs: outputs, taps: taps) }

    /// Bytes of a table.
    static func bytes(outputs: Int, taps: Int) -> Int { outputs * (taps * 2 + 8) }

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

/// The table of the vertical direction. A long one is made band by band: outputs come in order, and each is needed once.
final class FilterTableBands {
    /// Outputs of a band.
    static let length = 4096

    let outputs: Int
    let taps: Int
    private let resampling: ResamplingWindow
    private let samples: Int
    private var band: FilterTable
    /// The first output of the band.
    private var first = 0

    /// - Parameters: as those of `FilterTable`, whose tables are even: two rows are added at a time.
    /// - Throws: `CodecError.timedOut`.
    init(_ resampling: ResamplingWindow, samples: Int, tables: FilterTableCache, by deadline: Deadline) throws(CodecError) {
        (self.resampling, self.samples, outputs) = (resampling, samples, resampling.outputs)
        guard outputs > Self.length else {
            band = try tables.table(resampling, samples: samples, step: 2, by: deadline)
            taps = band.taps
            return
        }
        taps = (resampling.tapsAtMost + 1) / 2 * 2
        band = FilterTable(resampling, 0..<Self.length, taps: taps, samples: samples) {}
    }

    /// Bytes of the tables that there are at a time.
    var bytes: Int { band.bytes }

    /// The first row that output `index` is made of, and one past the last that it really needs.
    func rows(of index: Int) -> (start: Int, end: Int) {
        guard index < first + band.outputs else { return move(to: index) }
        return (Int(band.starts[index - first]), Int(band.ends[index - first]))
    }

    private func move(to index: Int) -> (start: Int, end: Int) {
        first = index
        band = FilterTable(resampling, index..<min(index + Self.length, outputs), taps: taps, samples: samples) {}
        return (Int(band.starts[0]), Int(band.ends[0]))
    }

    /// Calls `body` with the weights of output `index`, the last that `rows(of:)` was asked for or one after it in the band.
    func withWeights(of index: Int, _ body: (UnsafePointer<Int16>) -> Void) {
        band.weights.withUnsafeBufferPointer { weights in
            if let start = weights.baseAddress { body(start + (index - first) * taps) }
        }
    }
}

/// Tables of weights made recently: the same few sizes are asked for again and again, and a table costs hundreds of sines.
final class FilterTableCache: Sendable {
    private struct Key: Hashable {
        let resampling: ResamplingWindow
        let samples: Int
        let step: Int
    }

    /// Bytes of all tables that are kept, and of the largest.
    static let limit = 8 << 20
    private static let largest = 512 << 10

    private let tables = Mutex(BoundedCache<Key, FilterTable>(bytes: limit, entries: 256))

    /// Bytes that are kept.
    var bytes: Int { tables.withLock { $0.bytes } }

    /// - Throws: `CodecError.timedOut`.
    func table(_ resampling: ResamplingWindow, samples: Int, step: Int, by deadline: Deadline) throws(CodecError) -> FilterTable {
        let key = Key(resampling: resampling, samples: samples, step: step)
        if let known = tables.withLock({ $0.value(for: key) }) { return known }
        let table = try FilterTable(resampling, samples: samples, step: step, by: deadline)
        guard table.bytes <= Self.largest else { return table }
        tables.withLock { $0.keep(table, for: key, bytes: table.bytes) }
        return table
    }
}
