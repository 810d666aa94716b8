internal import FoundationEssentials
#if canImport(Glibc)
    internal import Glibc
#endif

/// Scenes at night.
enum Nights {
    /// Towers with lit windows below a large moon.
    static func city(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let haze = NoiseField(frequency: Point(2, 3), random: &random)
        canvas.shade { palette.dark.mixed(with: palette.middle, clamp($0.y / 1.3 + (haze.at($0) - 0.5) * 0.4)) }
        let moon = Point(random.number(0.3, 0.7), random.number(0.52, 0.58))
        canvas.glow(at: moon, radius: 0.55, palette.light, strength: 0.5)
        let seas = NoiseField(frequency: Point(12, 12), random: &random)
        canvas.fill(.circle(moon, 0.2)) {
            palette.light.mixed(with: palette.middle, smoothstep(from: 0.45, to: 0.65, seas.at($0)) * 0.35)
        }
        for layer in 0..<3 {
            let part = Float(layer) / 2
            let wall = palette.deep.mixed(with: palette.dark, part)
            var x: Float = -0.03
            while x < 1.02 {
                let width = random.number(0.07, 0.15)
                let top = random.number(0.62, 0.95) + part * 0.22
                canvas.fill(.rectangle(x: x, y: top, width: width + 0.002, height: 1)) {
                    wall.mixed(with: palette.middle, clamp($0.y - top) * 0.35 * (1 - part))
                }
                var windows = Path()
                var y = top + 0.025
                while y < 1.38 {
                    var column = x + 0.012
                    while column < x + width - 0.016 {
                        if random.number(0, 1) < 0.36 { windows.add(.rectangle(x: column, y: y, width: 0.009, height: 0.015)) }
                        column += 0.019
                    }
                    y += 0.028
                }
                canvas.fill(windows, palette.accent, opacity: 0.35 + 0.6 * part)
                x += width + random.number(0, 0.012)
            }
        }
        canvas.glow(at: Point(0.5, 1.55), radius: 0.6, palette.accent, strength: 0.35)
    }

    /// A ringed planet among stars.
    static func orbit(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let cloud = NoiseField(frequency: Point(2.5, 3.5), octaves: 5, random: &random)
        canvas.shade { place in
            let density = smoothstep(from: 0.42, to: 0.75, cloud.at(place))
            return palette.dark.mixed(with: palette.deep, clamp(place.y * 0.5)).mixed(with: palette.middle, density * 0.75)
        }
        for _ in 0..<260 {
            let bright = random.number(0, 1)
            let star = Point(random.number(0, 1), random.number(0, 1.5))
            canvas.glow(at: star, radius: 0.0025 + bright * bright * 0.007, Colour(repeating: 1), strength: 0.9)
        }
        let (centre, radius) = (Point(random.number(0.4, 0.6), random.number(0.6, 0.72)), random.number(0.2, 0.27))
        let tilt = random.number(-0.5, 0.5)
        canvas.glow(at: centre, radius: radius * 2.1, palette.accent, strength: 0.35)
        ring(on: canvas, palette, centre: centre, radius: radius, tilt: tilt, isFront: false)
        let bands = NoiseField(frequency: Point(2, 11), random: &random)
        canvas.fill(.circle(centre, radius)) { place in
            let out = (place - centre) / radius
            let light = clamp(0.25 - out.x * 0.55 - out.y * 0.6 + 0.45 * (1 - (out * out).sum()).squareRoot())
            return palette.dark.mixed(with: palette.light.mixed(with: palette.accent, bands.at(place) * 1.1), light)
        }
        ring(on: canvas, palette, centre: centre, radius: radius, tilt: tilt, isFront: true)
        for side in [Float(0.12), 0.86] {
            let moon = Point(side + random.number(-0.06, 0.06), centre.y + random.number(0.2, 0.4) * (side < 0.5 ? -1 : 1))
            canvas.fill(.circle(moon, random.number(0.015, 0.035))) {
                palette.light.mixed(with: palette.dark, clamp(($0.x - moon.x) * 22 + 0.4))
            }
        }
    }

    private static func ring(on canvas: Canvas, _ palette: Palette, centre: Point, radius: Float, tilt: Float, isFront: Bool) {
        let (c, s) = (cosf(tilt), sinf(tilt))
        for (size, opacity) in [(1.5, 0.75), (1.66, 0.5), (1.82, 0.85), (2.02, 0.3)] as [(Float, Float)] {
            let arc = (0...60).map { step -> Point in
                let turn = Float(step) / 60 * .pi + (isFront ? 0 : .pi)
                let (x, y) = (cosf(turn) * radius * size, sinf(turn) * radius * size * 0.26)
                return centre + Point(x * c - y * s, x * s + y * c)
            }
            canvas.fill(.stroke(arc, width: 0.012), palette.accent.mixed(with: palette.light, 0.5), opacity: opacity)
        }
    }

    /// Light through a blind, and a person in a coat.
    static func noir(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        let wall = NoiseField(frequency: Point(9, 13), octaves: 5, random: &random)
        let lean = random.number(0.12, 0.3)
        canvas.shade { place in
            let stripe = (place.y - place.x * lean) * 11
            let lit =
                smoothstep(from: 0.3, to: 0.42, stripe - floorf(stripe)) * smoothstep(from: 0.98, to: 0.9, stripe - floorf(stripe))
            let spot = clamp(1.15 - ((place - Point(0.52, 0.7)) * Point(1.6, 1.15)).magnitude * 1.15)
            let plaster = 0.85 + (wall.at(place) - 0.5) * 0.6
            return palette.dark.mixed(with: palette.accent.mixed(with: palette.light, spot), lit * spot * plaster)
        }
        let x = random.number(0.44, 0.56)
        var figure = Path.ellipse(Point(x, 0.64), Point(0.062, 0.085))
        figure.add(Path.ellipse(Point(x, 0.57), Point(0.125, 0.02), turned: -0.08))
        figure.add(Path.ellipse(Point(x, 0.535), Point(0.066, 0.06)))
        figure.add(Path.ellipse(Point(x, 0.93), Point(0.19, 0.19)))
        figure.add([Point(x + 0.19, 0.92), Point(x + 0.27, 1.52), Point(x - 0.27, 1.52), Point(x - 0.19, 0.92)])
        canvas.fill(figure, palette.dark, opacity: 0.97)
        var rain = Path()
        for _ in 0..<220 {
            let (drop, length) = (Point(random.number(-0.1, 1.1), random.number(-0.1, 1.5)), random.number(0.02, 0.07))
            rain.add(.stroke([drop, drop + Point(-length * 0.18, length)], width: 0.0014))
        }
        canvas.fill(rain, palette.light, opacity: 0.28)
    }

    /// Lights near and far, out of focus.
    static func lanterns(on canvas: Canvas, _ palette: Palette, random: inout SeededRandom) {
        canvas.shade { palette.deep.mixed(with: palette.dark, clamp(abs($0.y - 0.75) * 1.3)) }
        for size in stride(from: Float(0.02), through: 0.12, by: 0.004) {
            for _ in 0..<3 {
                let centre = Point(random.number(0, 1), random.number(0, 1.15))
                let tone = random.number(0, 1) < 0.7 ? palette.accent : palette.light
                canvas.fill(.circle(centre, size), tone, opacity: 0.1 + 0.12 * (1 - size / 0.12))
                canvas.fill(.circle(centre, size * 0.92), tone, opacity: 0.12)
            }
        }
        for (x, y) in [(0.2, 0.5), (0.52, 0.68), (0.83, 0.44)] as [(Float, Float)] {
            let (hang, radius) = (y + random.number(-0.06, 0.06), random.number(0.085, 0.11))
            canvas.fill(.stroke([Point(x, -0.02), Point(x, hang)], width: 0.004), palette.dark)
            canvas.glow(at: Point(x, hang), radius: radius * 3.4, palette.accent, strength: 0.75)
            canvas.fill(.ellipse(Point(x, hang), Point(radius, radius * 1.15))) { place in
                let rib = abs(sinf((place.x - x) / radius * 5.5))
                return palette.light.mixed(with: palette.accent, clamp(abs(place.x - x) / radius * 0.9 + 0.15 * rib))
            }
            for end in [-radius * 1.16, radius * 1.1] {
                canvas.fill(.rectangle(x: x - 0.035, y: hang + end, width: 0.07, height: 0.014), palette.dark)
            }
            canvas.fill(.stroke([Point(x, hang + radius * 1.2), Point(x, hang + radius * 1.8)], width: 0.006), palette.accent)
        }
    }
}

extension SIMD2<Float> {
    /// Length.
    var magnitude: Float { (self * self).sum().squareRoot() }
}
