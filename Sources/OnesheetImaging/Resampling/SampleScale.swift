import CImagingKernels
#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The scale for averaging, with conversions in both directions.
final class SampleScale: Sendable {
    /// 256 values up to 255 << 6; `nil` if only the width of samples changes.
    let opening: [Int16]?
    /// (255 << 6) + 1 values.
    let closing: [UInt8]

    private init(opening: ((Double) -> Double)?, closing: (Double) -> Double) {
        let full = Double(255 << CK_FRACTION)
        self.opening = opening.map { opening in (0..<256).map { Int16((opening(Double($0) / 255) * full).rounded()) } }
        self.closing = (0...(255 << Int(CK_FRACTION))).map { UInt8((closing(Double($0) / full) * 255).rounded()) }
    }

    /// The stored values.
    static let stored = SampleScale(opening: nil, closing: { $0 })
    /// Linear light (IEC 61966-2-1).
    static let light = SampleScale(
        opening: { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) },
        closing: { $0 <= 0.003_130_8 ? $0 * 12.92 : 1.055 * pow($0, 1 / 2.4) - 0.055 })
}
