import CImaging
import OnesheetCore
import Synchronization

/// The weights of one direction in the format of the kernels. Immutable, so renders can share it.
final class FilterTable: Sendable {
    let outputs: Int
    /// Weights for each output sample, a multiple of the step. Unused ones are zero.
    let taps: Int
    /// The first input sample for each output sample. `starts[i] + taps` exceeds `samples` only if `taps` does.
    let starts: [Int32]
    let weights: [Int16]
    /// One past the last input sample that each output sample really needs.
    let ends: [Int32]
    /// The input samples of a row.
    let samples: Int
    /// The weights in the order of the kernel for 8-bit samples; empty if it has none.
    let arranged: [Int16]

    /// - Parameters:
    ///   - samples: the number of input samples, readable or not.
    ///   - step: `taps` is a multiple of this. With `CK_TAPS` the table is for the horizontal direction.
    /// - Throws: `CodecError.timedOut`; a table may have millions of rows.
    convenience init(_ resampling: ResamplingWindow, samples: Int, step: Int, by deadline: Deadline = .never) throws(CodecError) {
        var longest = 0
        for index in 0..<resampling.outputs { longest = max(longest, resampling.window(index).count) }
        let taps = (longest + step - 1) / step * step
        let isAcross = step == Int(CK_TAPS)
        try self.init(
            resampling, 0..<resampling.outputs, taps: taps, samples: samples, isArranged: isAcross
        ) { () throws(CodecError) in try deadline.check() }
    }

    /// A table for a range of the outputs, which have at most `taps` weights.
    /// - Parameters:
    ///   - isArranged: whether there are `arranged` weights too, for the horizontal direction.
    ///   - pause: called regularly.
    init<Failure: Error>(
        _ resampling: ResamplingWindow, _ outputs: Range<Int>, taps: Int, samples: Int, isArranged: Bool = false,
        pause: () throws(Failure) -> Void
    ) throws(Failure) {
        var starts = [Int32](repeating: 0, count: outputs.count)
        var ends = starts
        var weights = [Int16](repeating: 0, count: outputs.count * taps)
        for (index, output) in outputs.enumerated() {
            if index % 4096 == 4095 { try pause() }
            let window = resampling.window(output)
            // Shifted to the left if it would exceed the row, with zeros in front.
            let start = max(min(window.lowerBound, samples - taps), 0)
            starts[index] = Int32(start)
            ends[index] = Int32(window.upperBound)
            let whole = Self.whole(resampling.weights(output, window))
            for (tap, weight) in whole.enumerated() { weights[index * taps + window.lowerBound - start + tap] = weight }
        }
        self.outputs = outputs.count
        self.taps = taps
        self.samples = samples
        self.starts = starts
        self.weights = weights
        self.ends = ends
        arranged = isArranged ? Self.arranged(starts, weights, taps: taps, samples: samples) : []
    }

    var bytes: Int { Self.bytes(outputs: outputs, taps: taps) + arranged.count * 2 }

    /// The bytes of a table.
    /// - Parameter isArranged: whether there may be `arranged` weights.
    static func bytes(outputs: Int, taps: Int, isArranged: Bool = false) -> Int {
        outputs * (taps * 2 + 8) + (isArranged ? 64 + (outputs + 7) / 8 * (64 + taps * 16) : 0)
    }

    private static func arranged(_ starts: [Int32], _ weights: [Int16], taps: Int, samples: Int) -> [Int16] {
        withAxis(from: starts, weights, arranged: [], taps: taps) { axis in
            let length = ck_arrange(axis, Int32(samples), nil)
            // Without room, the initializer would write to the empty array that all threads share.
            if length == 0 { return [] }
            return [Int16](unsafeUninitializedCapacity: length) { room, count in
                count = ck_arrange(axis, Int32(samples), room.baseAddress)
            }
        }
    }

    /// Calls `body` with the table in the form for C.
    func withAxis<Result>(_ body: (ck_axis) -> Result) -> Result {
        Self.withAxis(from: starts, weights, arranged: arranged, taps: taps, body)
    }

    private static func withAxis<Result>(
        from starts: [Int32], _ weights: [Int16], arranged: [Int16], taps: Int, _ body: (ck_axis) -> Result
    ) -> Result {
        starts.withUnsafeBufferPointer { starts in
            weights.withUnsafeBufferPointer { weights in
                arranged.withUnsafeBufferPointer { arranged in
                    body(
                        ck_axis(
                            outputs: Int32(starts.count), taps: Int32(taps), starts: starts.baseAddress,
                            weights: weights.baseAddress, arranged: arranged.isEmpty ? nil : arranged.baseAddress))
                }
            }
        }
    }

    /// Weights as whole numbers whose sum is exactly one, so that an even area stays even. The rounding error of one weight is
    /// added to the next: with thousands of taps each would round to zero.
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

/// The table of the vertical direction. A long one is made in bands, because outputs come in order and each is needed once.
final class FilterTableBands {
    /// The outputs of a band.
    static let length = 4096

    let outputs: Int
    let taps: Int
    private let resampling: ResamplingWindow
    private let samples: Int
    private var band: FilterTable
    /// The first output of the band.
    private var first = 0

    /// - Parameters: as in `FilterTable`. Tables have an even number of taps, because two rows are added at a time.
    /// - Throws: `CodecError.timedOut`.
    init(_ resampling: ResamplingWindow, samples: Int, tables: FilterTableCache, by deadline: Deadline) throws(CodecError) {
        self.resampling = resampling
        self.samples = samples
        outputs = resampling.outputs
        guard outputs > Self.length else {
            band = try tables.table(resampling, samples: samples, step: 2, by: deadline)
            taps = band.taps
            return
        }
        taps = (resampling.tapsAtMost + 1) / 2 * 2
        band = FilterTable(resampling, 0..<Self.length, taps: taps, samples: samples) {}
    }

    /// The bytes of the tables that exist at a time.
    var bytes: Int { band.bytes }

    /// The first input row of output `index`, and one past the last that it really needs.
    func rows(of index: Int) -> (start: Int, end: Int) {
        guard index < first + band.outputs else { return move(to: index) }
        return (Int(band.starts[index - first]), Int(band.ends[index - first]))
    }

    private func move(to index: Int) -> (start: Int, end: Int) {
        first = index
        band = FilterTable(resampling, index..<min(index + Self.length, outputs), taps: taps, samples: samples) {}
        return (Int(band.starts[0]), Int(band.ends[0]))
    }

    /// Calls `body` with the weights of output `index`, which is the last that `rows(of:)` was called for or a later one in the
    /// same band.
    func withWeights(of index: Int, _ body: (UnsafePointer<Int16>) -> Void) {
        band.weights.withUnsafeBufferPointer { weights in
            if let start = weights.baseAddress { body(start + (index - first) * taps) }
        }
    }
}

/// Recently made tables. The same few sizes are requested again and again, and a table costs hundreds of sines.
final class FilterTableCache: Sendable {
    private struct Key: Hashable {
        let resampling: ResamplingWindow
        let samples: Int
        let step: Int
    }

    /// The most bytes of all stored tables, and of one.
    static let limit = 8 << 20
    private static let largest = 512 << 10

    private let tables = Mutex(BoundedCache<Key, FilterTable>(bytes: limit, entries: 256))

    /// The bytes of stored tables.
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
