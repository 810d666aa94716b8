import CImagingKernels

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
        (self.count, self.bounds, self.width) = (count, bounds, width)
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
