internal import FoundationEssentials
#if canImport(Glibc)
    internal import Glibc
#endif

/// Flat compositions that resemble prints.
enum Prints {
    /// A sunburst behind a bird.
    static func rays(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let centre = Point(0.5, random.number(0.54, 0.6))
        let paper = NoiseField(frequency: Point(20, 20), random: &random)
        canvas.shade { palette.light.mixed(with: palette.middle, 0.12 * paper.at($0)) }
        let count = random.whole(11...16)
        for ray in 0..<count {
            let turn = Float(ray) / Float(count) * 2 * .pi
            canvas.fill(.slice(centre, 1.6, from: turn, to: turn + .pi / Float(count)), palette.middle)
        }
        for (radius, colour) in [(0.34, palette.deep), (0.3, palette.light), (0.27, palette.accent)] as [(Float, Colour)] {
            canvas.fill(.circle(centre, radius), colour)
        }
        let b = centre + Point(-0.01, 0.02)
        var bird = Path.ellipse(b, Point(0.13, 0.075), turned: 0.35)
        bird.add(Path.ellipse(b + Point(0.105, -0.075), Point(0.055, 0.05)))
        canvas.fill(bird, palette.dark)
        canvas.fill(
            Path([b + Point(-0.08, -0.05), b + Point(-0.3, 0.02), b + Point(-0.27, -0.06), b + Point(-0.05, -0.02)]), palette.dark)
        canvas.fill(Path([b + Point(0.15, -0.095), b + Point(0.215, -0.07), b + Point(0.15, -0.055)]), palette.deep)
        canvas.fill(.slice(b + Point(-0.02, 0), 0.16, from: 3.6, to: 4.5), palette.deep)
        canvas.fill(.circle(b + Point(0.122, -0.088), 0.009), palette.light)
        canvas.fill(.rectangle(x: -0.1, y: 1.09, width: 1.2, height: 0.5), palette.dark)
    }

    /// Circles, quarters and bars on a grid.
    static func shapes(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let colours = [palette.dark, palette.deep, palette.middle, palette.accent]
        canvas.shade { _ in palette.light }
        let cell: Float = 0.25
        for row in 0..<4 {
            for column in 0..<4 {
                let (x, y) = (Float(column) * cell, 0.07 + Float(row) * cell)
                let (back, front) = (random.whole(0...4), random.whole(0...3))
                if back < 4, back != front { canvas.fill(.rectangle(x: x, y: y, width: cell, height: cell), colours[back]) }
                let colour = colours[front]
                switch random.whole(0...5) {
                case 0: canvas.fill(.circle(Point(x + cell / 2, y + cell / 2), cell / 2), colour)
                case 1: canvas.fill(.slice(Point(x, y), cell, from: 0, to: .pi / 2), colour)
                case 2: canvas.fill(.slice(Point(x + cell, y + cell), cell, from: .pi, to: 1.5 * .pi), colour)
                case 3: canvas.fill(Path([Point(x, y), Point(x + cell, y + cell), Point(x, y + cell)]), colour)
                case 4: canvas.fill(.slice(Point(x + cell / 2, y + cell), cell / 2, from: .pi, to: 2 * .pi), colour)
                default:
                    for bar in 0..<3 {
                        canvas.fill(.rectangle(x: x, y: y + Float(bar) * cell / 3, width: cell, height: cell / 6), colour)
                    }
                }
            }
        }
    }

    /// Steps from corner to corner, each with its shadow.
    static func stairs(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        canvas.shade { palette.light.mixed(with: palette.accent, smoothstep(from: 0, to: 1.3, $0.y)) }
        canvas.fill(.circle(Point(0.28, 0.38), 0.15), Colour(repeating: 1), opacity: 0.8)
        for flight in 0..<3 {
            let start = 0.52 + Float(flight) * 0.26
            let tone = [palette.middle, palette.deep, palette.dark][flight]
            for step in 0..<12 {
                let place = Float(step) / 12
                let x = flight.isMultiple(of: 2) ? place : 1 - place - 1.0 / 12
                let y = start + 0.5 - place * 0.5
                canvas.fill(.rectangle(x: x, y: y, width: 1.0 / 12 + 0.002, height: 1.2)) {
                    tone.mixed(with: palette.dark, clamp(($0.y - y) * 1.4))
                }
                canvas.fill(.rectangle(x: x, y: y, width: 1.0 / 12 + 0.002, height: 0.012), tone.mixed(with: palette.light, 0.45))
            }
        }
        let climber = Point(0.705, 0.655)
        canvas.fill(.stroke([climber, climber + Point(0, 0.06)], width: 0.026), palette.dark)
        canvas.fill(.circle(climber + Point(0, -0.03), 0.014), palette.dark)
    }

    /// The lines of a signal, one below the other.
    static func ridges(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        canvas.shade { palette.dark.mixed(with: palette.deep, clamp(1 - ($0 - Point(0.5, 0.65)).magnitude)) }
        let lines = 46
        let relief = NoiseField(frequency: Point(22, 60), octaves: 3, random: &random)
        for line in 0..<lines {
            let y = 0.26 + Float(line) * 0.0185
            let middle = random.number(0.42, 0.58)
            let points = (0...260).map { step -> Point in
                let x = 0.08 + 0.84 * Float(step) / 260
                let bell = expf(-powf((x - middle) / 0.15, 2))
                return Point(x, y - max(0, relief.at(Point(x, y)) - 0.22) * (0.02 + 0.3 * bell))
            }
            canvas.fill(Path(points + [Point(0.92, y + 0.03), Point(0.08, y + 0.03)]), palette.dark)
            let colour = palette.accent.mixed(with: palette.light, Float(line) / Float(lines))
            canvas.fill(.stroke(points, width: 0.0032), colour)
        }
    }

    /// Sheets of paper with holes. Each casts its shadow on the next.
    static func cut(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let centre = Point(0.5, 0.7)
        let phase = random.number(0, 6)
        let layers = 8
        canvas.shade { _ in palette.ramp(0) }
        for layer in (0..<layers).reversed() {
            let part = Float(layer) / Float(layers - 1)
            let wobble = (0..<4).map { _ in random.number(0.02, 0.06) }
            let hole = (0..<180).map { step -> Point in
                let turn = Float(step) / 180 * 2 * .pi
                var out = 0.15 + part * 0.48
                for (index, size) in wobble.enumerated() {
                    out += size * (0.6 + part) * sinf(turn * Float(index + 2) + phase * Float(index + 1) + part * 3)
                }
                return Point(cosf(turn), -sinf(turn) * 1.15) * out
            }
            let below = layer == 0 ? palette.accent : palette.ramp(1 - (part - 1 / Float(layers - 1)))
            // From the shadow at the sheet's edge to the light on the next sheet.
            for (light, inset) in [(0.45, 0), (0.7, 0.006), (1, 0.012)] as [(Float, Float)] {
                let offset = centre + Point(-0.5, 0.7) * inset
                let path = Path(hole.map { $0 * (1 - inset / 0.3) + offset })
                canvas.fill(path, palette.dark.mixed(with: below, light))
            }
        }
        canvas.glow(at: centre, radius: 0.3, palette.light, strength: 0.5)
    }

    /// Contour lines of a map.
    static func contours(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let relief = NoiseField(frequency: Point(2.2, 2.2), octaves: 3, random: &random)
        let pixel = 1 / canvas.scale
        canvas.shade { place in
            let height = relief.at(place) * 22
            let slope = max(
                abs(relief.at(place + Point(pixel, 0)) * 22 - height), abs(relief.at(place + Point(0, pixel)) * 22 - height), 1e-5)
            let away = abs(height - height.rounded()) / slope
            let isMain = Int(height.rounded()).isMultiple(of: 4)
            let line = smoothstep(from: isMain ? 2.6 : 1.5, to: isMain ? 1.6 : 0.5, away)
            return palette.ramp(floorf(height) / 22 * 1.5 - 0.2).mixed(
                with: isMain ? palette.accent : palette.light, line * (isMain ? 1 : 0.45))
        }
        let route = (0...40).map { step -> Point in
            let part = Float(step) / 40
            return Point(0.16 + 0.66 * part, 1.05 - 0.62 * part + 0.09 * sinf(part * 9))
        }
        for (index, place) in route.enumerated() where index.isMultiple(of: 2) {
            canvas.fill(.circle(place, 0.007), Colour(repeating: 1))
        }
        canvas.fill(.circle(route[0], 0.02), palette.accent)
        if let end = route.last {
            canvas.fill(.stroke([end + Point(-0.03, -0.03), end + Point(0.03, 0.03)], width: 0.014), palette.accent)
            canvas.fill(.stroke([end + Point(0.03, -0.03), end + Point(-0.03, 0.03)], width: 0.014), palette.accent)
        }
    }
}
