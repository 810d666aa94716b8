/// The fraction of each pixel of a box that a shape covers, computed by summing signed areas along its edges (after R. Levien's
/// font-rs: <https://medium.com/@raphlinus/inside-the-fastest-font-renderer-in-the-world-75ae5270c445>).
struct Coverage {
    let left: Int
    let top: Int
    let width: Int
    let height: Int
    private let stride: Int
    private var areas: [Float]

    /// - Parameter scale: pixels per unit of the path.
    /// - Returns: `nil` if no part of the path is on a canvas of this size.
    init?(of path: Path, scale: Float, canvasWidth: Int, canvasHeight: Int) {
        var low = Point(repeating: .infinity)
        var high = Point(repeating: -.infinity)
        for outline in path.outlines {
            for point in outline {
                low = pointwiseMin(low, point * scale)
                high = pointwiseMax(high, point * scale)
            }
        }
        guard low.x < high.x, low.y < high.y else { return nil }
        left = max(0, Int(max(low.x, 0)))
        top = max(0, Int(max(low.y, 0)))
        width = min(canvasWidth, Int(min(high.x, 1e6)) + 1) - left
        height = min(canvasHeight, Int(min(high.y, 1e6)) + 1) - top
        guard width > 0, height > 0 else { return nil }
        stride = width + 3
        areas = [Float](repeating: 0, count: stride * height)
        let origin = Point(Float(left), Float(top))
        for outline in path.outlines {
            guard var previous = outline.last.map({ $0 * scale - origin }) else { continue }
            for point in outline {
                let next = point * scale - origin
                addEdge(previous, next)
                previous = next
            }
        }
    }

    /// The covered fractions of the pixels of one row, from 0 to 1.
    func row(_ y: Int, into parts: UnsafeMutableBufferPointer<Float>) {
        areas.withUnsafeBufferPointer { areas in
            var sum: Float = 0
            for x in 0..<width {
                sum += areas[y * stride + x]
                parts[x] = min(1, abs(sum))
            }
        }
    }

    /// Splits an edge at the sides of the box: parts beyond the left side count as on it.
    private mutating func addEdge(_ a: Point, _ b: Point) {
        if a.y == b.y { return }
        for side in [Float(0), Float(width)] where (a.x < side) != (b.x < side) && a.x != side && b.x != side {
            let part = (side - a.x) / (b.x - a.x)
            let middle = Point(side, a.y + (b.y - a.y) * part)
            addEdge(a, middle)
            addEdge(middle, b)
            return
        }
        let limit = Float(width)
        addInside(Point(min(max(a.x, 0), limit), a.y), Point(min(max(b.x, 0), limit), b.y))
    }

    private mutating func addInside(_ a: Point, _ b: Point) {
        let sign: Float = a.y < b.y ? 1 : -1
        let (upper, lower) = a.y < b.y ? (a, b) : (b, a)
        guard lower.y > 0, upper.y < Float(height) else { return }
        let slope = (lower.x - upper.x) / (lower.y - upper.y)
        var x = upper.y < 0 ? upper.x - upper.y * slope : upper.x
        let first = max(0, Int(upper.y))
        let last = min(height, Int(lower.y.rounded(.up)))
        guard first < last else { return }
        let (stride, limit) = (stride, Float(width))
        areas.withUnsafeMutableBufferPointer { areas in
            for y in first..<last {
                let dy = min(Float(y + 1), lower.y) - max(Float(y), upper.y)
                let next = min(max(x + slope * dy, 0), limit)
                Self.addRow(to: &areas, row: y * stride, x: x, next: next, d: dy * sign)
                x = next
            }
        }
    }

    /// One edge within one row, from `x` to `next`, of signed height `d`.
    @inline(__always)
    private static func addRow(to areas: inout UnsafeMutableBufferPointer<Float>, row: Int, x: Float, next: Float, d: Float) {
        let (x0, x1) = x < next ? (x, next) : (next, x)
        let start = x0.rounded(.down)
        let end = x1.rounded(.up)
        let (i, j) = (Int(start), Int(end))
        if j <= i + 1 {
            let middle = 0.5 * (x + next) - start
            areas[row + i] += d - d * middle
            areas[row + i + 1] += d * middle
            return
        }
        let s = 1 / (x1 - x0)
        let f0 = x0 - start
        let first = 0.5 * s * (1 - f0) * (1 - f0)
        let f1 = x1 - end + 1
        let last = 0.5 * s * f1 * f1
        areas[row + i] += d * first
        if j == i + 2 {
            areas[row + i + 1] += d * (1 - first - last)
        } else {
            let second = s * (1.5 - f0)
            areas[row + i + 1] += d * (second - first)
            for k in i + 2..<j - 1 { areas[row + k] += d * s }
            areas[row + j - 1] += d * (1 - (second + Float(j - i - 3) * s) - last)
        }
        areas[row + j] += d * last
    }
}
