/// Smooth noise over the poster, computed on a coarse grid and interpolated: clouds, mist, water, relief.
struct NoiseField {
    private static let columns = 129
    private static let rows = 193
    private let values: [Float]

    /// - Parameters:
    ///   - frequency: waves across the poster's width, and per the same length downwards.
    ///   - octaves: layers, each twice as fine and half as strong.
    init(frequency: Point, octaves: Int = 4, random: inout SeededRandom) {
        let seed = UInt32(truncatingIfNeeded: random.next())
        var values = [Float](repeating: 0, count: Self.columns * Self.rows)
        for row in 0..<Self.rows {
            for column in 0..<Self.columns {
                var place = Point(Float(column), Float(row)) / Float(Self.columns - 1) * frequency
                var (sum, strength, total): (Float, Float, Float) = (0, 1, 0)
                for octave in 0..<octaves {
                    sum += Self.lattice(place, seed &+ UInt32(octave) &* 7919) * strength
                    total += strength
                    strength *= 0.5
                    place *= 2.03
                }
                values[row * Self.columns + column] = sum / total
            }
        }
        self.values = values
    }

    /// From 0 to 1, mostly near a half.
    @inline(__always)
    func at(_ point: Point) -> Float {
        let x = min(max(point.x, 0), 1) * Float(Self.columns - 1)
        let y = min(max(point.y / 1.5, 0), 1) * Float(Self.rows - 1)
        let column = min(Int(x), Self.columns - 2)
        let row = min(Int(y), Self.rows - 2)
        let (fx, fy) = (x - Float(column), y - Float(row))
        return values.withUnsafeBufferPointer { values in
            let start = row * Self.columns + column
            let top = values[start] + (values[start + 1] - values[start]) * fx
            let bottom = values[start + Self.columns] + (values[start + Self.columns + 1] - values[start + Self.columns]) * fx
            return top + (bottom - top) * fy
        }
    }

    /// Values at whole numbers, interpolated smoothly.
    private static func lattice(_ point: Point, _ seed: UInt32) -> Float {
        let cell = point.rounded(.down)
        let inside = point - cell
        let eased = inside * inside * (3 - 2 * inside)
        let (x, y) = (Int32(cell.x), Int32(cell.y))
        let top = hash(x: x, y: y, seed: seed) + (hash(x: x &+ 1, y: y, seed: seed) - hash(x: x, y: y, seed: seed)) * eased.x
        let bottom =
            hash(x: x, y: y &+ 1, seed: seed) + (hash(x: x &+ 1, y: y &+ 1, seed: seed) - hash(x: x, y: y &+ 1, seed: seed))
            * eased.x
        return top + (bottom - top) * eased.y
    }

    private static func hash(x: Int32, y: Int32, seed: UInt32) -> Float {
        var mixed = UInt32(bitPattern: x) &* 0x85EB_CA6B ^ UInt32(bitPattern: y) &* 0xC2B2_AE35 ^ seed
        mixed = (mixed ^ (mixed >> 15)) &* 0x2C1B_3C6D
        mixed = (mixed ^ (mixed >> 12)) &* 0x297A_2D39
        return Float((mixed ^ (mixed >> 15)) >> 8) * (1 / Float(1 << 24))
    }
}
