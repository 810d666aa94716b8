/// A picture during painting: red, green and blue bytes, row by row. A class, because all painters share one.
final class Canvas {
    let width: Int
    let height: Int
    private(set) var bytes: [UInt8]

    /// Pixels per unit: a poster is one unit wide.
    var scale: Float { Float(width) }

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 0, count: width * height * 3)
    }

    /// Covers the whole canvas.
    func shade(_ colour: (Point) -> Colour) {
        let (width, height, step) = (width, height, 1 / scale)
        bytes.withUnsafeMutableBufferPointer { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let place = Point((Float(x) + 0.5) * step, (Float(y) + 0.5) * step)
                    Self.put(colour(place), into: &bytes, at: (y * width + x) * 3)
                }
            }
        }
    }

    /// Fills a path with one colour.
    func fill(_ path: Path, _ colour: Colour, opacity: Float = 1) {
        guard let coverage = Coverage(of: path, scale: scale, canvasWidth: width, canvasHeight: height) else { return }
        let stride = width
        let over = (colour * 255).clamped(lowerBound: Colour(repeating: 0), upperBound: Colour(repeating: 255))
        let (red, green, blue) = (UInt8(over.x + 0.5), UInt8(over.y + 0.5), UInt8(over.z + 0.5))
        var parts = [Float](repeating: 0, count: coverage.width)
        parts.withUnsafeMutableBufferPointer { parts in
            bytes.withUnsafeMutableBufferPointer { bytes in
                for row in 0..<coverage.height {
                    coverage.row(row, into: parts)
                    var start = ((coverage.top + row) * stride + coverage.left) * 3
                    for column in 0..<coverage.width {
                        let part = parts[column] * opacity
                        if part > 0.998 {
                            (bytes[start], bytes[start + 1], bytes[start + 2]) = (red, green, blue)
                        } else if part > 0.002 {
                            Self.put(Self.get(bytes, start).mixed(with: colour, part), into: &bytes, at: start)
                        }
                        start += 3
                    }
                }
            }
        }
    }

    /// Fills a path with a colour that depends on the position.
    func fill(_ path: Path, opacity: Float = 1, _ colour: (Point) -> Colour) {
        guard let coverage = Coverage(of: path, scale: scale, canvasWidth: width, canvasHeight: height) else { return }
        let (stride, step) = (width, 1 / scale)
        var parts = [Float](repeating: 0, count: coverage.width)
        parts.withUnsafeMutableBufferPointer { parts in
            bytes.withUnsafeMutableBufferPointer { bytes in
                for row in 0..<coverage.height {
                    coverage.row(row, into: parts)
                    let y = coverage.top + row
                    for column in 0..<coverage.width where parts[column] > 0.002 {
                        let part = parts[column] * opacity
                        let x = coverage.left + column
                        let place = Point((Float(x) + 0.5) * step, (Float(y) + 0.5) * step)
                        let start = (y * stride + x) * 3
                        let over = colour(place)
                        Self.put(part > 0.998 ? over : Self.get(bytes, start).mixed(with: over, part), into: &bytes, at: start)
                    }
                }
            }
        }
    }

    /// Adds light around a point, down to nothing at `radius`.
    func glow(at centre: Point, radius: Float, _ colour: Colour, strength: Float) {
        let left = max(0, Int((centre.x - radius) * scale))
        let right = min(width, Int((centre.x + radius) * scale) + 1)
        let top = max(0, Int((centre.y - radius) * scale))
        let bottom = min(height, Int((centre.y + radius) * scale) + 1)
        guard left < right, top < bottom else { return }
        let (stride, step) = (width, 1 / scale)
        bytes.withUnsafeMutableBufferPointer { bytes in
            for y in top..<bottom {
                for x in left..<right {
                    let away = Point(Float(x) * step, Float(y) * step) - centre
                    let part = 1 - (away * away).sum() / (radius * radius)
                    guard part > 0 else { continue }
                    let start = (y * stride + x) * 3
                    let under = Self.get(bytes, start)
                    // Screen blending, so that light never clips to white.
                    Self.put(under + colour * (part * part * strength) * (1 - under), into: &bytes, at: start)
                }
            }
        }
    }

    /// Imitates film stock: darker corners and grain, equal for equal seeds.
    func develop(vignette: Float, grain: Float, seed: UInt32) {
        let (width, height, step) = (width, height, 1 / scale)
        bytes.withUnsafeMutableBufferPointer { bytes in
            for y in 0..<height {
                for x in 0..<width {
                    let start = (y * width + x) * 3
                    let away = Point(Float(x) * step - 0.5, (Float(y) * step - 0.75) / 1.5)
                    let light = 1 - vignette * (away * away).sum() * 2
                    var mixed =
                        (UInt32(truncatingIfNeeded: x) &* 0x9E37_79B1) ^ (UInt32(truncatingIfNeeded: y) &* 0x85EB_CA77) ^ seed
                    mixed = (mixed ^ (mixed >> 15)) &* 0x2C1B_3C6D
                    mixed = (mixed ^ (mixed >> 13)) &* 0x297A_2D39
                    // The sum of two 16-bit numbers resembles grain more than a single one.
                    let noise = Float((mixed & 0xFFFF) + (mixed >> 16)) * (1 / 65_536) - 1
                    Self.put(Self.get(bytes, start) * light + Colour(repeating: noise * grain), into: &bytes, at: start)
                }
            }
        }
    }

    @inline(__always)
    private static func get(_ bytes: UnsafeMutableBufferPointer<UInt8>, _ start: Int) -> Colour {
        Colour(Float(bytes[start]), Float(bytes[start + 1]), Float(bytes[start + 2])) * (1 / 255)
    }

    @inline(__always)
    private static func put(_ colour: Colour, into bytes: inout UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        let whole = (colour * 255 + 0.5).clamped(lowerBound: Colour(repeating: 0), upperBound: Colour(repeating: 255))
        bytes[start] = UInt8(whole.x)
        bytes[start + 1] = UInt8(whole.y)
        bytes[start + 2] = UInt8(whole.z)
    }
}
