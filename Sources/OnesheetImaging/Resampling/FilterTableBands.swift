import OnesheetCore

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
