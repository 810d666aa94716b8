internal import CPNG
internal import OnesheetCore

/// The output format of a picture: the smallest lossless colour type and depth.
struct PNGForm {
    let colorType: Int
    let depth: Int

    /// - Throws: `CodecError.unsupported` if the profile is for another colour space.
    init(_ survey: cpng_survey, profile: ICCColors?, width: Int, height: Int) throws(CodecError) {
        let colors = Int(survey.colors)
        let paletteDepth = colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8
        func bytes(_ bits: Int) -> Int { (width * bits + 7) / 8 * height }
        /// Whether a palette with its two chunks takes less than `bits` per pixel.
        func paletteIsSmaller(than bits: Int) -> Bool {
            colors <= 256 && bytes(paletteDepth) + 24 + colors * (survey.is_opaque ? 3 : 4) < bytes(bits)
        }
        let alpha = survey.is_opaque ? 0 : 1
        switch profile {
        case .gray where !survey.is_gray: throw .unsupported("a gray profile in a coloured picture")
        case .gray:
            self.init(survey.is_opaque ? CPNG_GRAY : CPNG_GRAY_ALPHA, survey.is_opaque ? Int(survey.gray_depth) : 8)
        case nil where survey.is_gray && survey.is_opaque:
            let depth = Int(survey.gray_depth)
            if paletteIsSmaller(than: depth) { self.init(CPNG_PALETTE, paletteDepth) } else { self.init(CPNG_GRAY, depth) }
        case nil where survey.is_gray:
            if paletteIsSmaller(than: 16) { self.init(CPNG_PALETTE, paletteDepth) } else { self.init(CPNG_GRAY_ALPHA, 8) }
        // A profile for RGB fits palettes too, but not gray.
        case nil, .rgb:
            if paletteIsSmaller(than: 24 + 8 * alpha) {
                self.init(CPNG_PALETTE, paletteDepth)
            } else {
                self.init(survey.is_opaque ? CPNG_RGB : CPNG_RGBA, 8)
            }
        }
    }

    private init(_ colorType: Int, _ depth: Int) {
        self.colorType = colorType
        self.depth = depth
    }

    var isPalette: Bool { colorType == CPNG_PALETTE }

    /// The filters of rows, in order of effort. Filters do not help palettes and pixels smaller than a byte.
    func filterings(effort: Int) -> [cpng_filtering] {
        if isPalette || depth < 8 { return [CPNG_FILTER_NONE] }
        switch effort {
        case ...1: return [CPNG_FILTER_SUB]
        case ...7: return [CPNG_FILTER_ADAPTIVE]
        default: return [CPNG_FILTER_ADAPTIVE, CPNG_FILTER_NONE, CPNG_FILTER_SUB]
        }
    }
}

/// The colour space of an ICC profile (ICC.1 §7.2.6).
enum ICCColors {
    case gray
    case rgb

    /// - Throws: `CodecError.unsupported` for a profile that PNG cannot hold.
    init(_ profile: [UInt8]) throws(CodecError) {
        guard profile.count >= 132 else { throw .unsupported("an ICC profile that is cut off") }
        let name = String(decoding: profile[16..<20], as: UTF8.self)
        switch name {
        case "GRAY": self = .gray
        case "RGB ": self = .rgb
        default: throw .unsupported("an ICC profile for “\(name)” in PNG")
        }
    }
}
