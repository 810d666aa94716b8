/// Red, green and blue from 0 to 1, as the eye sees them (sRGB).
typealias Colour = SIMD3<Float>

/// A place on a poster: x from 0 to 1 across, y from 0 downwards to 1.5.
typealias Point = SIMD2<Float>

extension SIMD3<Float> {
    /// Reads `0xRRGGBB`.
    init(hex: UInt32) {
        self = Self(Float((hex >> 16) & 255), Float((hex >> 8) & 255), Float(hex & 255)) / 255
    }

    /// The colour `part` of the way to `other`.
    @inline(__always)
    func mixed(with other: Self, _ part: Float) -> Self { self + (other - self) * part }
}

@inline(__always)
func clamp(_ value: Float) -> Float { min(1, max(0, value)) }

/// 0 up to `low`, 1 from `high` on, smooth between.
@inline(__always)
func smoothstep(from low: Float, to high: Float, _ value: Float) -> Float {
    let part = clamp((value - low) / (high - low))
    return part * part * (3 - 2 * part)
}

/// Four colours that belong together, from the darkest to the lightest, and one that stands out.
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

    /// The colour at `part` of the way from the darkest to the lightest.
    func ramp(_ part: Float) -> Colour {
        let place = clamp(part) * 3
        if place < 1 { return dark.mixed(with: deep, place) }
        if place < 2 { return deep.mixed(with: middle, place - 1) }
        return middle.mixed(with: light, place - 2)
    }
}
