import CImagingKernels
import OnesheetCore

/// Resamples one plane while its rows arrive: each row across into a ring of rows, and as soon as a row of the outcome has all
/// that it is made of, the ring down.
final class PlaneResampler {
    private let across: Axis
    private let down: Axis
    private let channels: Int
    private let hasAlpha: Bool
    /// `nil` takes samples as they are, at eight bits.
    private let scale: SampleScale?
    private let target: UnsafeMutablePointer<UInt8>
    private let targetStride: Int
    /// Rows that have been resampled across, 16 bits a sample, channel after channel.
    private let ring: SampleRows<Int16>
    private let split: SampleRows<UInt8>
    private let opened: SampleRows<Int16>
    private let summed: SampleRows<Int16>
    private let closed: SampleRows<UInt8>
    private let rows: UnsafeMutablePointer<UnsafePointer<Int16>?>
    /// Sums of the rows of the outcome under way, instead of a ring, where a ring would have very many rows; else `nil`.
    private let sums: RowSums?
    /// The first row of a pair that becomes one; `nil` where every row stands for itself.
    private let held: SampleRows<UInt8>?
    private let width: Int
    private let height: Int
    private var next = 0

    /// - Parameters:
    ///   - width, height: the plane that will arrive.
    ///   - halves: whether two rows and two columns become one first; `across` and `down` are of the halves.
    ///   - target: where the outcome's first row goes, `stride` bytes from row to row; must outlive this object.
    ///   - scale: what averaging goes by; needed where there is alpha.
    init(
        across: Axis, down: Axis, channels: Int, hasAlpha: Bool, scale: SampleScale?, target: UnsafeMutablePointer<UInt8>,
        stride: Int, width: Int, height: Int, halves: Bool = false
    ) {
        precondition(scale != nil || !hasAlpha, "transparent samples are weighted by alpha")
        (self.across, self.down, self.channels, self.hasAlpha, self.scale) = (across, down, channels, hasAlpha, scale)
        (self.target, targetStride) = (target, stride)
        let room = max(across.samples, across.taps)
        precondition(!halves || channels == 1 && scale == nil, "single planes, as they are")
        (self.width, self.height) = (width, height)
        held = halves ? SampleRows(count: 1, width: width) : nil
        let splits = scale == nil && (channels > 1 || across.samples < across.taps)
        sums = down.taps > RowSums.least ? RowSums(down, channels: channels, width: across.outputs) : nil
        ring = SampleRows(count: (sums == nil ? down.taps : 1) * channels, width: across.outputs)
        split = SampleRows(count: splits ? channels : 0, width: room)
        opened = SampleRows(count: scale == nil && !halves ? 0 : channels, width: room)
        summed = SampleRows(count: scale == nil ? 0 : channels, width: across.outputs)
        closed = SampleRows(count: scale == nil && channels > 1 ? channels : 0, width: across.outputs)
        rows = .allocate(capacity: down.taps)
        rows.initialize(repeating: nil, count: down.taps)
    }

    deinit { rows.deallocate() }

    /// Whether every row of the outcome has been written.
    var isComplete: Bool { next == down.outputs }

    /// Takes row `y`. Rows come from top to bottom.
    func take(_ samples: UnsafePointer<UInt8>, y: Int) {
        guard let held else { return take(y) { across($0, samples) } }
        let isLast = y == height - 1
        guard y % 2 == 1 || isLast else { return held[0].update(from: samples, count: width) }
        let upper = y % 2 == 1 ? UnsafePointer(held[0]) : samples
        take(y / 2) { slot in
            ck_halve(upper, samples, opened[0], Int32(width))
            across.withTable { ck_across_i16(opened[0], ring[slot], $0) }
        }
    }

    /// Resamples a row, or the half of two, across into the ring if any row of the outcome is made of it; and makes those that are
    /// complete with it.
    private func take(_ y: Int, _ fill: (_ slot: Int) -> Void) {
        guard next < down.outputs, y >= Int(down.starts[next]) else { return }
        if let sums {
            fill(0)
            for channel in 0..<channels { sums.add(ring[channel], channel: channel, y: y, next: next) }
        } else {
            fill(y % down.taps * channels)
        }
        while next < down.outputs, Int(down.ends[next]) <= y + 1 {
            write(next)
            next += 1
        }
    }

    private func across(_ slot: Int, _ samples: UnsafePointer<UInt8>) {
        if let scale {
            let hasAlpha: Int32 = hasAlpha ? 1 : 0
            if let opening = scale.opening {
                ck_open(samples, opened.starts, Int32(channels), hasAlpha, opening, Int32(across.samples))
            } else {
                ck_open(samples, opened.starts, Int32(channels), hasAlpha, nil, Int32(across.samples))
            }
            across.withTable { table in
                for channel in 0..<channels { ck_across_i16(opened[channel], ring[slot + channel], table) }
            }
        } else if split.count > 0 {
            if channels > 1 {
                ck_split(samples, split.starts, Int32(channels), Int32(across.samples))
            } else {
                split[0].update(from: samples, count: across.samples)
            }
            across.withTable { table in
                for channel in 0..<channels { ck_across_u8(split[channel], ring[slot + channel], table) }
            }
        } else {
            across.withTable { ck_across_u8(samples, ring[slot], $0) }
        }
    }

    /// Makes row `index` of the outcome from the ring, or from its sums.
    private func write(_ index: Int) {
        let start = Int(down.starts[index])
        if let sums {
            sums.withSettled(index) { row, channel in
                (rows[0], rows[1]) = (row, row)
                sum(channel, RowSums.whole, 2, index)
            }
        } else {
            down.weights.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress.map({ $0 + index * down.taps }) else { return }
                for channel in 0..<channels {
                    for tap in 0..<down.taps { rows[tap] = UnsafePointer(ring[(start + tap) % down.taps * channels + channel]) }
                    sum(channel, weights, down.taps, index)
                }
            }
        }
        let (to, width) = (target + index * targetStride, Int32(across.outputs))
        if let scale {
            ck_close(summed.constants, to, Int32(channels), hasAlpha ? 1 : 0, scale.closing, width)
        } else if channels > 1 {
            ck_join(closed.constants, to, Int32(channels), width)
        }
    }

    /// Adds up `rows`, one channel of row `index` of the outcome.
    private func sum(_ channel: Int, _ weights: UnsafePointer<Int16>, _ taps: Int, _ index: Int) {
        let width = Int32(across.outputs)
        if scale != nil {
            ck_down_i16(rows, weights, Int32(taps), summed[channel], width)
        } else {
            ck_down_u8(rows, weights, Int32(taps), channels > 1 ? closed[channel] : target + index * targetStride, width)
        }
    }
}

extension Axis {
    /// Calls `body` with the table as C sees it.
    func withTable(_ body: (ck_axis) -> Void) {
        starts.withUnsafeBufferPointer { starts in
            weights.withUnsafeBufferPointer { weights in
                body(
                    ck_axis(outputs: Int32(outputs), taps: Int32(taps), starts: starts.baseAddress, weights: weights.baseAddress))
            }
        }
    }
}
