import CImagingKernels

/// The vertical pass where thousands of rows make one: rows are added to the few sums that they belong to as they come.
final class RowSums {
    /// Below so many rows to a sum a ring is faster.
    static let least = 256

    private let down: Axis
    private let channels: Int
    private let width: Int
    /// Sums under way at the same time.
    private let slots: Int
    private let sums: SampleRows<Int32>
    private let settled: SampleRows<Int16>

    init(_ down: Axis, channels: Int, width: Int) {
        var (slots, last) = (1, 0)
        for first in down.starts.indices {
            while last + 1 < down.outputs, down.starts[last + 1] < down.ends[first] { last += 1 }
            slots = max(slots, last - first + 1)
        }
        (self.down, self.channels, self.width, self.slots) = (down, channels, width, slots)
        sums = SampleRows(count: slots * channels, width: width)
        settled = SampleRows(count: channels, width: width)
    }

    /// Adds a row to all sums that it belongs to, from row `next` of the outcome on.
    func add(_ row: UnsafePointer<Int16>, channel: Int, y: Int, next: Int) {
        var index = next
        while index < down.outputs, Int(down.starts[index]) <= y {
            let tap = y - Int(down.starts[index])
            if tap < down.taps {
                let weight = down.weights[index * down.taps + tap]
                if weight != 0 { ck_add(row, weight, sums[index % slots * channels + channel], Int32(width)) }
            }
            index += 1
        }
    }

    /// Calls `body` with each channel of the finished row `index`, and makes room for another.
    func withSettled(_ index: Int, _ body: (UnsafePointer<Int16>, _ channel: Int) -> Void) {
        for channel in 0..<channels {
            ck_settle(sums[index % slots * channels + channel], settled[channel], Int32(width))
            body(settled[channel], channel)
        }
    }

    /// Weights of a row that counts for all, and of one that counts for nothing.
    static var whole: UnsafePointer<Int16> { ck_whole() }
}
