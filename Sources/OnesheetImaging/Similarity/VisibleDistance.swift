import CImaging
import OnesheetCore

/// How different two pictures of one size look: 0 for equal ones, and about `jpegOf80` for a JPEG of quality 80 and its original.
///
/// The measure is 1 - SSIM (Wang, Bovik, Sheikh and Simoncelli 2004) of luma in windows of 8 × 8 samples, one every four samples, at
/// full size and at a quarter of it. The fourth power makes the worst places count most, as in SSIMULACRA 2. All is computed with
/// integers, so that a variant has the same bytes on all processors.
struct VisibleDistance: Comparable, Hashable {
    /// Times 65,536.
    let units: Int

    static let jpegOf80 = VisibleDistance(units: 6800)
    /// The weight of the picture at a quarter, in which differences are smaller.
    private static let coarse = 13

    static func < (left: Self, right: Self) -> Bool { left.units < right.units }
}

extension VisibleDistance {
    /// The distance of two pictures of the same size; `nil` if they are smaller than a window.
    init?(_ a: LumaPlane, _ b: LumaPlane, by deadline: Deadline) throws(CodecError) {
        precondition(a.width == b.width && a.height == b.height, "pictures of one size")
        guard let fine = try Look(a, b, by: deadline) else { return nil }
        // A picture too small for the second look counts by the first alone.
        let rough = try Look(fine.quarters.0, fine.quarters.1, by: deadline).map { $0.norm * Self.coarse }
        units = fine.norm + (rough ?? fine.norm)
    }
}

/// The comparison of two pictures in one size.
private struct Look {
    /// The fourth root of the mean fourth power, times 65,536.
    let norm: Int
    /// The pictures at a quarter.
    let quarters: (LumaPlane, LumaPlane)

    /// `nil` if there is no window.
    init?(_ a: LumaPlane, _ b: LumaPlane, by deadline: Deadline) throws(CodecError) {
        let (columns, rows) = (a.width / 4, a.height / 4)
        guard columns > 1, rows > 1 else { return nil }
        var watch = DeadlineWatch(deadline)
        var upper = [ck_cell](repeating: ck_cell(), count: columns)
        var lower = upper
        var small = (a: [UInt8](), b: [UInt8]())
        small.a.reserveCapacity(columns * rows)
        small.b.reserveCapacity(columns * rows)
        var total: UInt64 = 0
        for row in 0..<rows {
            try watch.row(samples: 8 * a.width)
            swap(&upper, &lower)
            a.withRow(row * 4) { left in
                b.withRow(row * 4) { right in ck_cells(left, a.width, right, b.width, &lower, Int32(columns)) }
            }
            for cell in lower {
                small.a.append(UInt8((cell.a + 8) >> 4))
                small.b.append(UInt8((cell.b + 8) >> 4))
            }
            // A mean for each row, whose sum has room for any picture.
            if row > 0 { total += ck_dissimilarity(upper, lower, Int32(columns - 1)) / UInt64(columns - 1) }
        }
        let mean = total / UInt64(rows - 1)
        norm = Int(Self.root(Self.root(mean << 16)))
        quarters = (
            LumaPlane(width: columns, height: rows, samples: small.a), LumaPlane(width: columns, height: rows, samples: small.b)
        )
    }

    /// The largest whole number whose square is at most `value`.
    private static func root(_ value: UInt64) -> UInt64 {
        var root: UInt64 = 0
        for bit in (0..<32).reversed() {
            let larger = root | 1 << UInt64(bit)
            if larger * larger <= value { root = larger }
        }
        return root
    }
}
