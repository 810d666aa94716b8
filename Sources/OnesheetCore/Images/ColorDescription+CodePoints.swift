extension ColorDescription {
    /// A colour space as code points (ITU-T H.273 tables 2 and 3).
    ///
    /// - Throws: `CodecError.unsupported` for high dynamic range, which would be rendered too dark.
    package init(primaries: Int, transfer: Int) throws(CodecError) {
        let chromaticities = Self.chromaticities(primaries)
        switch transfer {
        case 4: self = .gamma(2.2, chromaticities: chromaticities)
        case 5: self = .gamma(2.8, chromaticities: chromaticities)
        case 8: self = .gamma(1, chromaticities: chromaticities)
        case 16: throw .unsupported("the transfer function PQ (high dynamic range)")
        case 18: throw .unsupported("the transfer function HLG (high dynamic range)")
        // sRGB, unspecified and rare ones, and the television curves, which files use for sRGB.
        default: self = chromaticities.map { .primaries($0) } ?? .sRGB
        }
    }

    /// `nil` for sRGB and for unspecified values.
    private static func chromaticities(_ primaries: Int) -> Chromaticities? {
        let daylight: SIMD2 = [0.3127, 0.3290]
        return switch primaries {
        case 9: Chromaticities(white: daylight, red: [0.708, 0.292], green: [0.170, 0.797], blue: [0.131, 0.046])
        case 11: Chromaticities(white: [0.314, 0.351], red: [0.680, 0.320], green: [0.265, 0.690], blue: [0.150, 0.060])
        case 12: Chromaticities(white: daylight, red: [0.680, 0.320], green: [0.265, 0.690], blue: [0.150, 0.060])
        default: nil
        }
    }
}
