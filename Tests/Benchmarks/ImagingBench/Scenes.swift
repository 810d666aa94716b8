import OnesheetCore
import OnesheetTesting

/// Pictures with which formats are compared, beside `DrawnPoster`.
enum Scene: String, CaseIterable {
    /// Posters with more and more grain.
    case clean, poster, grainy, noisy
    /// Areas of one colour with hard edges, and letters.
    case flat
    /// Overlapping discs of all sizes with and without texture, whose statistics are those of photographs (the model of dead leaves).
    case leaves

    static let size = (width: 1000, height: 1500)

    func draw() throws -> PixelBuffer {
        switch self {
        case .clean: try DrawnPoster(width: Self.size.width, height: Self.size.height, seed: 3, grain: 0).draw()
        case .poster: try DrawnPoster(width: Self.size.width, height: Self.size.height, seed: 1, grain: 10).draw()
        case .grainy: try DrawnPoster(width: Self.size.width, height: Self.size.height, seed: 5, grain: 25).draw()
        case .noisy: try DrawnPoster(width: Self.size.width, height: Self.size.height, seed: 6, grain: 60).draw()
        case .flat: try Self.draw(discs: 40, from: 40, to: 320, texture: 0, letters: true)
        case .leaves: try Self.draw(discs: 2500, from: 6, to: 220, texture: 40, letters: false)
        }
    }

    private struct Disc {
        var x: Int
        var y: Int
        var radius: Int
        var color: SIMD3<Int>
        var texture: Int
    }

    private static func draw(discs count: Int, from least: Double, to most: Double, texture: Int, letters: Bool) throws
        -> PixelBuffer
    {
        var random = SplitMix(seed: UInt64(count))
        var picture = try PixelBuffer(PixelLayout(width: size.width, height: size.height, model: .rgb), limits: Limits())
        let discs = (0..<count).map { _ in
            // Many small ones and few large ones, so that a picture looks the same at all scales.
            let share = Double.random(in: 0..<1, using: &random)
            let radius = least / (1 - share * (1 - least * least / (most * most))).squareRoot()
            return Disc(
                x: .random(in: 0..<size.width, using: &random), y: .random(in: 0..<size.height, using: &random),
                radius: Int(radius),
                color: SIMD3(
                    .random(in: 15...240, using: &random), .random(in: 15...240, using: &random),
                    .random(in: 15...240, using: &random)),
                texture: texture > 0 ? .random(in: 0...texture, using: &random) : 0)
        }
        for y in 0..<size.height {
            var row = [SIMD3<Int>](repeating: SIMD3(28, 44, 92), count: size.width)
            for disc in discs {
                let height = disc.radius * disc.radius - (y - disc.y) * (y - disc.y)
                guard height > 0 else { continue }
                let half = Int(Double(height).squareRoot())
                for x in max(0, disc.x - half)..<max(0, min(size.width, disc.x + half)) {
                    let grain = disc.texture > 0 ? Int(random.next() % UInt64(2 * disc.texture + 1)) - disc.texture : 0
                    row[x] = disc.color &+ SIMD3(repeating: grain)
                }
            }
            if letters, y > 1200, y % 44 < 26 {
                for x in 90..<910 where x / 9 % 3 > 0 && (x / 27 + y / 44) % 5 > 0 { row[x] = SIMD3(244, 242, 236) }
            }
            picture.withMutableRow(y) { samples in
                for x in 0..<size.width {
                    for channel in 0..<3 { samples[3 * x + channel] = UInt8(min(max(row[x][channel], 0), 255)) }
                }
            }
        }
        return picture
    }
}
