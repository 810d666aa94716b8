internal import CPNG
internal import OnesheetCore

/// The chunks before the rows, as libpng has read them.
struct PNGHeader {
    let width: Int
    let height: Int
    let isPalette: Bool
    let isInterlaced: Bool
    /// The colour space without cICP.
    let colors: ColorDescription
    /// The delivered layout: 8 bits, palettes expanded, alpha if there is any.
    let model: ColorModel
    let hasAlpha: Bool

    init(_ header: cpng_header) {
        width = Int(header.width)
        height = Int(header.height)
        let type = Int(header.color_type)
        isPalette = type == CPNG_PALETTE
        isInterlaced = header.interlaced
        colors = Self.colors(header)
        let isGray = type == CPNG_GRAY || type == CPNG_GRAY_ALPHA
        model = isGray ? .gray : .rgb
        hasAlpha = type & 4 != 0 || header.has_trns
    }

    /// Bytes of a delivered pixel.
    var channels: Int { model.channels + (hasAlpha ? 1 : 0) }

    var layout: PixelLayout { PixelLayout(width: width, height: height, model: model, hasAlpha: hasAlpha) }

    func imageHeader(colors: ColorDescription, exif: [UInt8]?) -> ImageHeader {
        let tags = EXIF(tiff: exif ?? [])
        // A larger one has been read as far as its tags require, and is not kept.
        let exif = exif.flatMap { $0.count < ImageHeader.largestEXIF ? $0 : nil }
        return ImageHeader(
            format: .png, width: width, height: height, model: model, hasAlpha: hasAlpha, orientation: tags.orientation,
            colors: colors, isProgressive: isInterlaced, copyright: tags.copyright, exif: exif)
    }

    /// A profile takes precedence over sRGB, and sRGB over gAMA and cHRM (W3C, third edition, §4.3). Primaries without a gamma say nothing,
    /// as in browsers.
    private static func colors(_ header: cpng_header) -> ColorDescription {
        if let profile = header.profile, header.profile_size <= ImageHeader.largestProfile {
            return .icc(Array(UnsafeBufferPointer(start: profile, count: header.profile_size)))
        }
        if header.is_srgb || !header.has_gamma { return .sRGB }
        let chromaticities = header.has_chromaticities ? Chromaticities(header.chromaticities) : nil
        let primaries = chromaticities.flatMap { $0.isSRGB ? nil : $0 }
        // 45455 is the gamma value of an sRGB file for readers that do not know sRGB.
        let isUsualGamma = abs(header.gamma - 45455) <= 50
        if isUsualGamma && primaries == nil { return .sRGB }
        return .gamma(100_000 / Double(header.gamma), chromaticities: primaries)
    }
}

extension Chromaticities {
    fileprivate init(_ c: (Int32, Int32, Int32, Int32, Int32, Int32, Int32, Int32)) {
        func point(_ x: Int32, _ y: Int32) -> SIMD2<Double> { SIMD2(Double(x), Double(y)) / 100_000 }
        self.init(white: point(c.0, c.1), red: point(c.2, c.3), green: point(c.4, c.5), blue: point(c.6, c.7))
    }

    /// Whether these are the values of sRGB (IEC 61966-2-1), with the precision of files.
    fileprivate var isSRGB: Bool {
        let known: [(SIMD2<Double>, SIMD2<Double>)] = [
            (white, [0.3127, 0.3290]), (red, [0.64, 0.33]), (green, [0.30, 0.60]), (blue, [0.15, 0.06]),
        ]
        return known.allSatisfy { abs($0.x - $1.x) < 0.0015 && abs($0.y - $1.y) < 0.0015 }
    }
}
