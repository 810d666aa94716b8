import CImaging
import OnesheetCore

/// Resamples one plane as its rows arrive: each row horizontally into a ring buffer, and the ring vertically as soon as it has all
/// rows for one row of the output.
final class PlaneResampler {
    private let across: FilterTable
    private let down: FilterTableBands
    private let channels: Int
    private let hasAlpha: Bool
    /// `nil` keeps samples unchanged, with eight bits.
    private let scale: SampleScale?
    private let target: UnsafeMutablePointer<UInt8>
    private let targetStride: Int
    /// Horizontally resampled rows, 16 bits a sample, channel by channel.
    private let ring: SampleRows<Int16>
    private let split: SampleRows<UInt8>
    private let opened: SampleRows<Int16>
    private let summed: SampleRows<Int16>
    private let closed: SampleRows<UInt8>
    /// The rows of the ring, twice for each channel, so that any row is followed by those behind it.
    private let windows: UnsafeMutablePointer<UnsafePointer<Int16>?>
    /// Averages rows before the ring, if the ring would need very many; else `nil`.
    private let boxes: RowBoxes?
    /// The first row of a pair to be averaged; `nil` if rows are not paired.
    private let held: SampleRows<UInt8>?
    private let width: Int
    private let height: Int
    /// The next row of the output, and the first row that it needs and one past the last.
    private var next = 0
    private var needed: (start: Int, end: Int)

    /// - Parameters:
    ///   - across, down: the part of the plane and its number of output samples in each direction.
    ///   - width, height: the size of the input plane.
    ///   - target: the first output row, with a distance of `stride` bytes between rows; must outlive this object.
    ///   - scale: the scale for averaging; required with alpha.
    ///   - mayHalve: whether two rows and two columns may be averaged first.
    /// - Throws: `CodecError.timedOut`.
    init(
        across: ResamplingWindow, down: ResamplingWindow, tables: FilterTableCache, channels: Int, hasAlpha: Bool,
        scale: SampleScale?,
        target: UnsafeMutablePointer<UInt8>, stride: Int, width: Int, height: Int, mayHalve: Bool = false,
        by deadline: Deadline = .never
    ) throws(CodecError) {
        precondition(scale != nil || !hasAlpha, "transparent samples are weighted by alpha")
        let halves =
            mayHalve && channels == 1 && scale == nil && across.canBeHalved(samples: width) && down.canBeHalved(samples: height)
        let (columns, lines) = halves ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
        let (across, down) = halves ? (across.halved, down.halved) : (across, down)
        self.channels = channels
        self.hasAlpha = hasAlpha
        self.scale = scale
        self.target = target
        targetStride = stride
        self.width = width
        self.height = height
        self.across = try tables.table(across, samples: columns, step: Int(CK_TAPS), by: deadline)
        let outputs = across.outputs
        if let count = down.boxes {
            boxes = RowBoxes(count, of: down.bounds, channels: channels, width: outputs)
            self.down = try FilterTableBands(down.inBoxes(count), samples: count, tables: tables, by: deadline)
        } else {
            boxes = nil
            self.down = try FilterTableBands(down, samples: lines, tables: tables, by: deadline)
        }
        let room = max(self.across.samples, self.across.taps)
        held = halves ? SampleRows(count: 1, width: width) : nil
        let splits = scale == nil && (channels > 1 || self.across.samples < self.across.taps)
        ring = SampleRows(count: self.down.taps * channels, width: outputs)
        split = SampleRows(count: splits ? channels : 0, width: room)
        opened = SampleRows(count: scale == nil && !halves ? 0 : channels, width: room)
        summed = SampleRows(count: scale == nil ? 0 : channels, width: outputs)
        closed = SampleRows(count: scale == nil && channels > 1 ? channels : 0, width: outputs)
        needed = self.down.rows(of: 0)
        let taps = self.down.taps
        windows = .allocate(capacity: 2 * taps * channels)
        for channel in 0..<channels {
            for row in 0..<2 * taps {
                (windows + 2 * taps * channel + row).initialize(to: UnsafePointer(ring[row % taps * channels + channel]))
            }
        }
    }

    deinit { windows.deallocate() }

    /// The bytes of its tables and rows.
    var bytes: Int {
        across.bytes + down.bytes + ring.bytes + split.bytes + opened.bytes + summed.bytes + closed.bytes
            + (boxes?.bytes ?? 0)
            + (held?.bytes ?? 0) + 2 * down.taps * channels * MemoryLayout<Int>.size
    }

    /// An upper bound of `bytes`, computed before allocation.
    /// - Parameters:
    ///   - horizontal, vertical: the input samples per output sample; the actual ratios may be smaller.
    ///   - kernel: `nil` for shrinking and enlarging.
    static func bytes(
        width: Int, outputs: Size, horizontal: Double, vertical: Double, channels: Int, kernel: Kernel? = nil
    ) -> Int {
        let step = Int(CK_TAPS)
        let taps = (min(ResamplingWindow.taps(kernel ?? .lanczos3, scale: horizontal), width) + step - 1) / step * step
        let rows =
            ResamplingWindow.taps(kernel ?? .lanczos3, scale: kernel == nil ? min(vertical, ResamplingWindow.boxed) : vertical) + 2
        let line = outputs.width
        return FilterTable.bytes(outputs: line, taps: taps, isArranged: true)
            + FilterTable.bytes(outputs: min(outputs.height, FilterTableBands.length), taps: rows)
            + SampleRows<Int16>.bytes(count: (rows + 2) * channels, width: line)
            + SampleRows<Int32>.bytes(count: channels, width: line) + SampleRows<UInt8>.bytes(count: channels, width: line)
            + SampleRows<UInt8>.bytes(count: channels + 1, width: width + taps)
            + SampleRows<Int16>.bytes(count: channels, width: width + taps)
            + 2 * rows * channels * MemoryLayout<Int>.size
    }

    /// Whether all rows of the output have been written.
    var isComplete: Bool { next == down.outputs }

    /// Adds row `y`. Rows come from top to bottom.
    /// - Parameter variances: of what the decoder has left out around each sample of a single channel.
    func add(_ samples: UnsafePointer<UInt8>, variances: UnsafePointer<UInt16>? = nil, y: Int) {
        guard let held else { return add(row: y) { across(samples, variances, into: $0, at: $1) } }
        let isLast = y == height - 1
        guard y % 2 == 1 || isLast else { return held[0].update(from: samples, count: width) }
        let upper = y % 2 == 1 ? UnsafePointer(held[0]) : samples
        add(row: y / 2) { rows, slot in
            ck_halve(upper, samples, opened[0], Int32(width))
            across.withAxis { ck_across_i16(opened[0], rows[slot], $0) }
        }
    }

    /// Resamples a row, or the average of two, horizontally into the ring if the output needs it, and makes all output rows that
    /// are complete with it.
    private func add(row y: Int, _ fill: (_ rows: SampleRows<Int16>, _ slot: Int) -> Void) {
        guard next < down.outputs else { return }
        var row = y
        if let boxes {
            guard let box = boxes.box(of: y), box >= needed.start else { return }
            fill(boxes.crossed, 0)
            guard boxes.add(y, into: ring, slot: box % down.taps * channels) else { return }
            row = box
        } else {
            guard y >= needed.start else { return }
            fill(ring, y % down.taps * channels)
        }
        while needed.end <= row + 1 {
            write(next)
            next += 1
            guard next < down.outputs else { return }
            needed = down.rows(of: next)
        }
    }

    private func across(
        _ samples: UnsafePointer<UInt8>, _ variances: UnsafePointer<UInt16>?, into rows: SampleRows<Int16>, at slot: Int
    ) {
        if let scale {
            let hasAlpha: Int32 = hasAlpha ? 1 : 0
            let width = Int32(across.samples)
            if let opening = scale.opening, let variances, channels == 1 {
                ck_open_means(samples, variances, opened[0], opening, width)
            } else if let opening = scale.opening {
                ck_open(samples, opened.starts, Int32(channels), hasAlpha, opening, width)
            } else {
                ck_open(samples, opened.starts, Int32(channels), hasAlpha, nil, width)
            }
            across.withAxis { axis in
                for channel in 0..<channels { ck_across_i16(opened[channel], rows[slot + channel], axis) }
            }
        } else if split.count > 0 {
            if channels > 1 {
                ck_split(samples, split.starts, Int32(channels), Int32(across.samples))
            } else {
                split[0].update(from: samples, count: across.samples)
            }
            across.withAxis { axis in
                for channel in 0..<channels { ck_across_u8(split[channel], rows[slot + channel], axis) }
            }
        } else {
            across.withAxis { ck_across_u8(samples, rows[slot], $0) }
        }
    }

    /// Makes row `index` of the output from the ring.
    private func write(_ index: Int) {
        let (to, width, taps) = (target + index * targetStride, Int32(across.outputs), down.taps)
        let first = windows + needed.start % taps
        down.withWeights(of: index) { weights in
            for channel in 0..<channels {
                let rows = first + 2 * taps * channel
                if scale != nil {
                    ck_down_i16(rows, weights, Int32(taps), summed[channel], width)
                } else {
                    ck_down_u8(rows, weights, Int32(taps), channels > 1 ? closed[channel] : to, width)
                }
            }
        }
        if let scale {
            ck_close(summed.constants, to, Int32(channels), hasAlpha ? 1 : 0, scale.closing, width)
        } else if channels > 1 {
            ck_join(closed.constants, to, Int32(channels), width)
        }
    }
}

/// Averages boxes of rows before the vertical pass if very many rows make one, so that the number of weights and stored rows is
/// small for pictures of any height. Enough rows remain to make the difference invisible.
final class RowBoxes {
    private let count: Int
    /// The rows that may be read.
    private let bounds: Range<Int>
    /// The horizontally resampled row.
    let crossed: SampleRows<Int16>
    private let sums: SampleRows<Int32>
    private let width: Int
    /// The rows of the current box.
    private var filled: Int32 = 0

    /// - Parameter count: the number of boxes; their numbers of rows differ by at most one.
    init(_ count: Int, of bounds: Range<Int>, channels: Int, width: Int) {
        self.count = count
        self.bounds = bounds
        self.width = width
        crossed = SampleRows(count: channels, width: width)
        sums = SampleRows(count: channels, width: width)
    }

    var bytes: Int { crossed.bytes + sums.bytes }

    /// The box of row `y`; `nil` if the row may not be read.
    func box(of y: Int) -> Int? {
        bounds.contains(y) ? ((y - bounds.lowerBound + 1) * count - 1) / bounds.count : nil
    }

    /// Adds the horizontally resampled row. The last row of a box completes its average in `averages` from `slot` on.
    /// - Returns: whether it was the last.
    func add(_ y: Int, into averages: SampleRows<Int16>, slot: Int) -> Bool {
        for channel in 0..<crossed.count { ck_add(crossed[channel], sums[channel], Int32(width)) }
        filled += 1
        guard box(of: y + 1) != box(of: y) else { return false }
        for channel in 0..<crossed.count { ck_average(sums[channel], averages[slot + channel], filled, Int32(width)) }
        filled = 0
        return true
    }
}
