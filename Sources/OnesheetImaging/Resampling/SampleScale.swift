import CImaging
import OnesheetCore
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The scale for averaging, with conversions in both directions.
final class SampleScale: Sendable {
    /// 256 values; `nil` if only the width of samples changes.
    let opening: [ck_light]?
    /// (255 << 6) + 1 values.
    let closing: [UInt8]

    /// - Parameter opening: a curve of numbers up to 1, and its second derivative.
    private init(opening: (curve: (Double) -> Double, bend: (Double) -> Double)?, closing: (Double) -> Double) {
        let full = Double(255 << CK_FRACTION)
        self.opening = opening.map { curve, bend in
            (0..<256).map { sample in
                let value = Double(sample) / 255
                let half = bend(value) * full / 2 / (255 * 255)
                return ck_light(light: Int16((curve(value) * full).rounded()), bend: Int16((half * 32768).rounded()))
            }
        }
        self.closing = (0...(255 << Int(CK_FRACTION))).map { UInt8((closing(Double($0) / full) * 255).rounded()) }
    }

    /// The stored values.
    static let stored = SampleScale(opening: nil, closing: { $0 })
    /// Linear light (IEC 61966-2-1). The bend of its straight part is that of the power beside it: the samples around a dark mean are
    /// on both parts, and where there is nothing around it, it matters to none.
    static let light = SampleScale(
        opening: (
            { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) },
            { 2.4 * 1.4 / (1.055 * 1.055) * pow(($0 + 0.055) / 1.055, 0.4) }
        ),
        closing: { $0 <= 0.003_130_8 ? $0 * 12.92 : 1.055 * pow($0, 1 / 2.4) - 0.055 })

    /// The scale on which such samples add up as light does. The values of common RGB and gray spaces are near sRGB's curve. `nil` if the
    /// stored values add up: those of a curve near a straight line are light, and ink is a share of the paper that it covers.
    static func light(_ model: ColorModel, _ colors: ColorDescription) -> SampleScale? {
        if model == .cmyk { return nil }
        if case .gamma(let gamma, _) = colors, gamma < 1.5 { return nil }
        return .light
    }
}
