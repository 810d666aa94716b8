/// Red, green and blue from 0 to 1 in sRGB.
typealias Colour = SIMD3<Float>

/// A point on a poster: x from 0 to 1 to the right, y from 0 to 1.5 downwards.
typealias Point = SIMD2<Float>

extension SIMD3<Float> {
    /// Parses `0xRRGGBB`.
    init(hex: UInt32) {
        self = Self(Float((hex >> 16) & 255), Float((hex >> 8) & 255), Float(hex & 255)) / 255
    }

    /// The mix with the fraction `part` of `other`.
    @inline(__always)
    func mixed(with other: Self, _ part: Float) -> Self { self + (other - self) * part }
}

@inline(__always)
func clamp(_ value: Float) -> Float { min(1, max(0, value)) }

/// 0 up to `low`, 1 from `high` on, smooth in between.
@inline(__always)
func smoothstep(from low: Float, to high: Float, _ value: Float) -> Float {
    let part = clamp((value - low) / (high - low))
    return part * part * (3 - 2 * part)
}

/// Four matching colours from the darkest to the lightest, and an accent.
struct Palette: Sendable {
    let dark: Colour
    let deep: Colour
    let middle: Colour
    let light: Colour
    let accent: Colour

    init(dark: UInt32, deep: UInt32, middle: UInt32, light: UInt32, accent: UInt32) {
        self.dark = Colour(hex: dark)
        self.deep = Colour(hex: deep)
        self.middle = Colour(hex: middle)
        self.light = Colour(hex: light)
        self.accent = Colour(hex: accent)
    }

    /// The colour at the fraction `part` between the darkest and the lightest.
    func ramp(_ part: Float) -> Colour {
        let place = clamp(part) * 3
        if place < 1 { return dark.mixed(with: deep, place) }
        if place < 2 { return deep.mixed(with: middle, place - 1) }
        return middle.mixed(with: light, place - 2)
    }
}
