internal import FoundationEssentials
#if canImport(Glibc)
    internal import Glibc
#endif

/// Scenes outdoors.
enum Landscapes {
    /// Ridges in haze below a sun.
    static func mountains(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let clouds = NoiseField(frequency: Point(3, 7), random: &random)
        canvas.shade { palette.light.mixed(with: palette.middle, clamp($0.y / 1.1 + (clouds.at($0) - 0.5) * 0.5)) }
        let sun = Point(random.number(0.3, 0.7), random.number(0.42, 0.55))
        canvas.glow(at: sun, radius: 0.6, palette.accent, strength: 0.7)
        canvas.fill(.circle(sun, 0.13), palette.accent.mixed(with: Colour(repeating: 1), 0.35))
        for layer in 0..<6 {
            let part = Float(layer) / 5
            let relief = NoiseField(frequency: Point(2.5 + 2.5 * part, 1), octaves: 6, random: &random)
            let top = 0.62 + 0.13 * Float(layer)
            let near = palette.middle.mixed(with: palette.dark, 0.15 + 0.85 * part)
            let ridge = Path.ground(steps: 500) { x in top + (0.5 - relief.at(Point(x, 0.3))) * (0.75 - 0.25 * part) }
            canvas.fill(ridge) { near.mixed(with: palette.light, max(0, $0.y - top) * 0.75 * (1 - part)) }
        }
    }

    /// A low sun and its reflection on the water.
    static func sea(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let horizon: Float = 0.86
        let clouds = NoiseField(frequency: Point(2.5, 14), random: &random)
        let sun = Point(random.number(0.35, 0.65), horizon - random.number(0.05, 0.16))
        canvas.shade { place in
            palette.deep.mixed(with: palette.light, clamp(place.y / horizon)).mixed(
                with: palette.middle, smoothstep(from: 0.5, to: 0.75, clouds.at(place)) * 0.8)
        }
        canvas.glow(at: sun, radius: 0.7, palette.accent, strength: 0.8)
        canvas.fill(.circle(sun, 0.17), palette.accent.mixed(with: Colour(repeating: 1), 0.5))
        let waves = NoiseField(frequency: Point(5, 60), octaves: 3, random: &random)
        canvas.fill(.rectangle(x: -0.1, y: horizon, width: 1.2, height: 1)) { place in
            let depth = clamp((place.y - horizon) / 0.64)
            let water = palette.middle.mixed(with: palette.dark, 0.35 + 0.65 * depth)
            let spread = 0.06 + depth * 0.28
            let onPath = 1 - min(1, abs(place.x - sun.x) / spread)
            let glitter = smoothstep(from: 0.5 - 0.12 * onPath, to: 0.62, waves.at(place)) * onPath * (1 - 0.5 * depth)
            return water.mixed(with: palette.accent, glitter).mixed(with: palette.light, (waves.at(place) - 0.45) * 0.35)
        }
        let (x, y) = (random.number(0.12, 0.24), horizon + 0.012)
        canvas.fill(
            Path([Point(x - 0.035, y - 0.02), Point(x + 0.05, y - 0.02), Point(x + 0.035, y), Point(x - 0.02, y)]), palette.dark)
        canvas.fill(Path([Point(x, y - 0.15), Point(x + 0.045, y - 0.03), Point(x, y - 0.03)]), palette.dark)
    }

    /// Trunks in mist.
    static func forest(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        canvas.shade { palette.light.mixed(with: palette.middle, smoothstep(from: 0.1, to: 1.5, $0.y)) }
        canvas.glow(at: Point(0.5, 0.55), radius: 0.75, palette.accent, strength: 0.75)
        let mist = NoiseField(frequency: Point(3, 6), random: &random)
        for layer in 0..<5 {
            let part = Float(layer) / 4
            let tone = palette.middle.mixed(with: palette.dark, 0.1 + 0.9 * part)
            var trees = Path()
            for _ in 0..<(15 - layer * 2) {
                let x = random.number(-0.05, 1.05)
                guard layer < 3 || abs(x - 0.5) > 0.22 else { continue }
                let (half, foot) = (random.number(0.008, 0.014) * (1 + part * 2.2), 0.95 + part * 0.5)
                trees.add([
                    Point(x - half * 0.7, -0.05), Point(x + half * 0.7, -0.05), Point(x + half * 1.4, foot),
                    Point(x - half * 1.4, foot),
                ])
            }
            canvas.fill(trees, tone)
            let floor = 0.9 + part * 0.32
            canvas.fill(.ground { x in floor + (0.5 - mist.at(Point(x, part))) * 0.12 }) { place in
                tone.mixed(with: palette.light, smoothstep(from: 0.35, to: 0.7, mist.at(place)) * (1 - part) * 0.7)
            }
        }
        let x: Float = 0.5
        canvas.fill(.stroke([Point(x, 1.0), Point(x, 1.07)], width: 0.035), palette.dark)
        canvas.fill(.circle(Point(x, 0.96), 0.017), palette.dark)
    }

    /// A straight road to the horizon.
    static func road(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let horizon: Float = 0.8
        let clouds = NoiseField(frequency: Point(4, 9), random: &random)
        canvas.shade { place in
            palette.dark.mixed(with: palette.light, powf(clamp(place.y / horizon), 1.6)).mixed(
                with: palette.accent, smoothstep(from: 0.52, to: 0.75, clouds.at(place)) * clamp(place.y / horizon) * 0.8)
        }
        canvas.glow(at: Point(0.5, horizon), radius: 0.55, palette.accent, strength: 0.9)
        let relief = NoiseField(frequency: Point(6, 1), octaves: 5, random: &random)
        canvas.fill(.ground { x in horizon - 0.02 - relief.at(Point(x, 0.5)) * 0.12 * (0.3 + abs(x - 0.5) * 2) }, palette.deep)
        let field = NoiseField(frequency: Point(9, 40), random: &random)
        canvas.fill(.rectangle(x: -0.1, y: horizon, width: 1.2, height: 1)) { place in
            palette.deep.mixed(with: palette.dark, clamp((place.y - horizon) * 1.6)).mixed(
                with: palette.middle, (field.at(place) - 0.4) * 0.5)
        }
        canvas.fill(Path([Point(0.49, horizon), Point(0.51, horizon), Point(1.05, 1.52), Point(-0.05, 1.52)])) {
            palette.dark.mixed(with: palette.light, 0.28 * (1 - clamp(($0.y - horizon) / 0.5)))
        }
        for dash in 1..<10 {
            let (near, far) = (powf(0.68, Float(dash)), powf(0.68, Float(dash)) * 0.82)
            let (y1, y2) = (horizon + 0.72 * near, horizon + 0.72 * far)
            let (w1, w2) = (0.016 * near, 0.016 * far)
            canvas.fill(Path([Point(0.5 - w1, y1), Point(0.5 + w1, y1), Point(0.5 + w2, y2), Point(0.5 - w2, y2)]), palette.accent)
        }
    }
}
