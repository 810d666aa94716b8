import CImagingKernels

/// What goes before the vertical pass where very many rows make one: the average of each box of rows, so that weights and rows held
/// are few however high the picture is. What is left for the pass is enough for a difference not to show.
final class RowBoxes {
    private let count: Int
    /// The rows that may be looked at.
    private let bounds: Range<Int>
    /// A row that has been resampled across.
    let crossed: SampleRows<Int16>
    private let sums: SampleRows<Int32>
    private let width: Int
    /// Rows in the box under way.
    private var filled: Int32 = 0

    /// - Parameter count: boxes, whose numbers of rows differ by one at the most.
    init(_ count: Int, of bounds: Range<Int>, channels: Int, width: Int) {
        (self.count, self.bounds, self.width) = (count, bounds, width)
        crossed = SampleRows(count: channels, width: width)
        sums = SampleRows(count: channels, width: width)
    }

    var bytes: Int { crossed.bytes + sums.bytes }

    /// The box that row `y` belongs to; `nil` if it may not be looked at.
    func box(of y: Int) -> Int? {
        bounds.contains(y) ? ((y - bounds.lowerBound + 1) * count - 1) / bounds.count : nil
    }

    /// Adds the row that has been resampled across; as the last of its box it makes the box's average, in `averages` from `slot` on.
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
