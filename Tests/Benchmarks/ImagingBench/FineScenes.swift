import OnesheetCore
import OnesheetTesting

/// Pictures whose light is in details that a small variant does not show one by one: letters and stars.
struct FineScene {
    let size: (width: Int, height: Int)
    private var random: SplitMix
    private var light: [SIMD3<Double>]

    /// - Parameter ground: its colour.
    init(_ size: (width: Int, height: Int), seed: UInt64, ground: SIMD3<Double>) {
        self.size = size
        random = SplitMix(seed: seed)
        light = [SIMD3<Double>](repeating: ground, count: size.width * size.height)
    }

    /// Lines of letters, as in a billing block, of several sizes.
    static func letters(_ size: (width: Int, height: Int), seed: UInt64, ground: SIMD3<Double>, ink: SIMD3<Double>) throws
        -> PixelBuffer
    {
        var scene = FineScene(size, seed: seed, ground: ground)
        let heights = [12.0, 16, 22, 11, 32]
        var (top, line) = (24.0, 0)
        while top + 50 < Double(size.height) {
            scene.write(at: top, height: heights[line % heights.count], ink)
            top += heights[line % heights.count] * 1.6
            line += 1
        }
        return try scene.picture(grain: 2)
    }

    /// Points of light on a dark ground, and a few larger ones.
    static func stars(_ size: (width: Int, height: Int), seed: UInt64, count: Int, ground: SIMD3<Double>) throws -> PixelBuffer {
        var scene = FineScene(size, seed: seed, ground: ground)
        for index in 0..<count {
            let (x, y) = (scene.number(to: Double(size.width)), scene.number(to: Double(size.height)))
            let isLarge = index % 40 == 0
            scene.point(x, y, brightness: isLarge ? 260 : 40 + scene.number(to: 200), radius: isLarge ? 2.2 : 0.7)
        }
        return try scene.picture(grain: 3)
    }

    private mutating func number(to end: Double) -> Double { Double.random(in: 0..<end, using: &random) }

    private mutating func point(_ x: Double, _ y: Double, brightness: Double, radius: Double) {
        let reach = Int(3 * radius) + 1
        for row in max(0, Int(y) - reach)..<min(size.height, Int(y) + reach + 1) {
            for column in max(0, Int(x) - reach)..<min(size.width, Int(x) + reach + 1) {
                let (right, down) = (Double(column) + 0.5 - x, Double(row) + 0.5 - y)
                let share = max(0, 1 - (right * right + down * down) / (9 * radius * radius))
                light[row * size.width + column] += brightness * share * share * share * SIMD3(1, 0.97, 0.93)
            }
        }
    }

    /// The strokes of some letters on a grid of two columns and four rows: from and to, each as column and row.
    private static let strokes: [[SIMD4<Double>]] = [
        [SIMD4(0, 4, 1, 0), SIMD4(1, 0, 2, 4), SIMD4(0.5, 2.6, 1.5, 2.6)],
        [SIMD4(0, 0, 0, 4), SIMD4(0, 0, 2, 0), SIMD4(0, 2, 1.5, 2), SIMD4(0, 4, 2, 4)],
        [SIMD4(0, 0, 0, 4), SIMD4(2, 0, 2, 4), SIMD4(0, 2, 2, 2)],
        [SIMD4(1, 0, 1, 4)],
        [SIMD4(0, 0, 0, 4), SIMD4(0, 4, 2, 4)],
        [SIMD4(0, 4, 0, 0), SIMD4(0, 0, 2, 4), SIMD4(2, 4, 2, 0)],
        [SIMD4(0, 0, 2, 0), SIMD4(2, 0, 2, 4), SIMD4(2, 4, 0, 4), SIMD4(0, 4, 0, 0)],
        [SIMD4(0, 0, 2, 0), SIMD4(1, 0, 1, 4)],
        [SIMD4(0, 0, 1, 4), SIMD4(1, 4, 2, 0)],
        [SIMD4(0, 0, 2, 4), SIMD4(2, 0, 0, 4)],
    ]

    private mutating func write(at top: Double, height: Double, _ ink: SIMD3<Double>) {
        let unit = height / 4
        var left = 40.0
        while left + 60 < Double(size.width) {
            let letter = Int(number(to: 12))
            if letter < Self.strokes.count {
                for stroke in Self.strokes[letter] {
                    let scaled = stroke * unit + SIMD4(left, top, left, top)
                    draw(scaled, half: height / 16, ink)
                }
            }
            left += unit * 3.2
        }
    }

    /// Covers pixels by their distance from a line.
    private mutating func draw(_ line: SIMD4<Double>, half: Double, _ ink: SIMD3<Double>) {
        let (right, down) = (line.z - line.x, line.w - line.y)
        let length = max(right * right + down * down, 1e-9)
        let (left, top) = (Int(min(line.x, line.z) - half) - 1, Int(min(line.y, line.w) - half) - 1)
        let (last, bottom) = (Int(max(line.x, line.z) + half) + 1, Int(max(line.y, line.w) + half) + 1)
        for row in max(0, top)...min(size.height - 1, bottom) {
            for column in max(0, left)...min(size.width - 1, last) {
                let (x, y) = (Double(column) + 0.5 - line.x, Double(row) + 0.5 - line.y)
                let along = min(max((x * right + y * down) / length, 0), 1)
                let (dx, dy) = (x - along * right, y - along * down)
                let cover = min(max(half + 0.5 - (dx * dx + dy * dy).squareRoot(), 0), 1)
                light[row * size.width + column] += (ink - light[row * size.width + column]) * cover
            }
        }
    }

    private mutating func picture(grain: Double) throws -> PixelBuffer {
        var picture = try PixelBuffer(PixelLayout(width: size.width, height: size.height, model: .rgb), limits: Limits())
        for y in 0..<size.height {
            for x in 0..<size.width {
                // The sum of two is a triangle.
                light[y * size.width + x] += SIMD3(repeating: number(to: grain) + number(to: grain) - grain)
            }
            picture.withMutableRow(y) { samples in
                for x in 0..<size.width {
                    let color = light[y * size.width + x]
                    for channel in 0..<3 { samples[3 * x + channel] = UInt8(min(max(color[channel].rounded(), 0), 255)) }
                }
            }
        }
        return picture
    }
}
