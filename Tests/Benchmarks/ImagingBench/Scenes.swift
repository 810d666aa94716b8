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
    /// The same with smaller discs.
    case meadow
    /// Light letters on a dark ground, and dark ones on a light ground.
    case letters, ink
    /// Few stars and many.
    case stars, cluster

    /// - Parameter scale: how many times 1000 × 1500 pixels, on each side. Details stay as large, and there are more of them.
    func draw(scale: Int = 1) throws -> PixelBuffer {
        let size = (width: 1000 * scale, height: 1500 * scale), area = scale * scale
        func poster(_ seed: UInt32, grain: Double) throws -> PixelBuffer {
            try DrawnPoster(width: size.width, height: size.height, seed: seed, grain: grain).draw()
        }
        switch self {
        case .clean: return try poster(3, grain: 0)
        case .poster: return try poster(1, grain: 10)
        case .grainy: return try poster(5, grain: 25)
        case .noisy: return try poster(6, grain: 60)
        case .flat: return try Self.draw(size, discs: 40, from: 40, to: 320, texture: 0, letters: true)
        case .leaves: return try Self.draw(size, discs: 2500 * area, from: 6, to: 220, texture: 40, letters: false)
        case .meadow: return try Self.draw(size, discs: 6000 * area, from: 3, to: 120, texture: 20, letters: false)
        case .letters: return try FineScene.letters(size, seed: 1, ground: SIMD3(12, 14, 24), ink: SIMD3(240, 240, 235))
        case .ink: return try FineScene.letters(size, seed: 2, ground: SIMD3(225, 222, 210), ink: SIMD3(20, 20, 30))
        case .stars: return try FineScene.stars(size, seed: 3, count: 3000 * area, ground: SIMD3(14, 14, 20))
        case .cluster: return try FineScene.stars(size, seed: 4, count: 12_000 * area, ground: SIMD3(5, 5, 8))
        }
    }

    private struct Disc {
        var x: Int
        var y: Int
        var radius: Int
        var color: SIMD3<Int>
        var texture: Int
    }

    private static func draw(
        _ size: (width: Int, height: Int), discs count: Int, from least: Double, to most: Double, texture: Int, letters: Bool
    ) throws -> PixelBuffer {
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
