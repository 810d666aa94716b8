import OnesheetCore

/// One variant to make, with all decisions that precede decoding.
struct Job {
    let transform: Transform
    let plan: Plan
    let encoder: any Codec
    let options: EncodeOptions
    /// To sRGB; `nil` if no conversion is needed.
    let conversion: ColorConversion?
    /// From sRGB to the profile that the variant keeps, for colours that are drawn; `nil` if no conversion is needed.
    let drawing: ColorConversion?
    /// Whether Y, Cb and Cr stay in planes up to the encoder.
    let keepsPlanes: Bool
    /// The server's watermark, if the variant has one.
    let watermark: WatermarkImage?
    /// Luma pixels per chroma pixel of the planes, in each direction.
    let chroma: Int

    /// Below this quality, chroma is stored at half the resolution, as is usual. The loss is invisible there.
    private static let fullColorQuality = 90

    init(
        _ transform: Transform, of header: ImageHeader, codecs: CodecSet, watermark: WatermarkImage?,
        conversions: ColorConversions, limits: Limits
    ) throws(RenderError) {
        let encoder = try codecs.encoder(of: transform, from: header)
        let transform = transform.encoded(in: encoder.format)
        let whole = Turn(header.orientation, of: transform).size(Size(width: header.width, height: header.height))
        guard !Plan.isBeside(transform, whole) else { throw .outside(width: whole.width, height: whole.height) }
        let plan = Plan(transform, width: header.width, height: header.height, orientation: header.orientation)
        for size in [plan.size, plan.finalSize] {
            let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
            guard !overflow, pixels <= limits.outputPixels else {
                throw .tooManyOutputPixels(width: size.width, height: size.height, limit: limits.outputPixels)
            }
        }
        try Self.check(plan.finalSize, fits: encoder)
        if let asked = transform.watermark, let watermark {
            try Self.check(watermark.size, scale: asked.scale, on: plan.finalSize, limits)
        }
        let converts = Self.converts(transform, plan, of: header, in: encoder)
        conversion =
            converts ? conversions.conversion(header.colors, model: header.model, hasAlpha: header.hasAlpha) : nil
        if !converts, Self.draws(transform, plan, on: header, in: encoder.format), case .icc(let profile) = header.colors {
            drawing = conversions.conversion(to: profile)
        } else {
            drawing = nil
        }
        keepsPlanes =
            encoder.encodesPlanar && plan.canvas == nil && conversion == nil && !transform.effects.contains(.packed)
        chroma = keepsPlanes && transform.quality < Self.fullColorQuality ? 2 : 1
        options = Self.options(
            transform, header, embedsProfile: !converts, effort: Self.effort(of: encoder.format, for: plan, from: header))
        self.watermark = transform.watermark == nil ? nil : watermark
        // Another watermark than the one that the options named would be stored under its key.
        guard self.watermark?.digest == transform.watermark?.digest else { throw .otherWatermark }
        self.transform = transform
        self.plan = plan
        self.encoder = encoder
    }

    /// - Throws: if a side is longer than the format allows.
    static func check(_ size: Size, fits encoder: any Codec) throws(RenderError) {
        guard max(size.width, size.height) > encoder.longestSide else { return }
        throw .codec(.unsupported("\(size.width) × \(size.height) pixels in \(encoder.format)"), encoder.format)
    }

    /// - Throws: if a scaled watermark has more pixels than an output may have. Its own size is bounded by the configuration.
    static func check(_ watermark: Size, scale: Double, on picture: Size, _ limits: Limits) throws(RenderError) {
        guard scale > 1 else { return }
        let drawn = WatermarkImage.size(watermark, scale: scale, on: picture)
        let (pixels, overflow) = drawn.width.multipliedReportingOverflow(by: drawn.height)
        guard !overflow, pixels <= limits.outputPixels else {
            throw .tooManyOutputPixels(width: drawn.width, height: drawn.height, limit: limits.outputPixels)
        }
    }

    /// Whether pixels are converted to sRGB. Inks always become RGB, and gray does where something is drawn or the format has no gray, so
    /// the original's profile would no longer describe them. Without a profile, nothing in the variant would.
    static func converts(_ transform: Transform, _ plan: Plan, of header: ImageHeader, in encoder: any Codec) -> Bool {
        guard !transform.convertsToSRGB, case .icc = header.colors else { return true }
        return switch header.model {
        case .cmyk: true
        case .gray: !encoder.encodesGray || draws(transform, plan, on: header, in: encoder.format)
        case .rgb, .ycbcr: false
        }
    }

    /// Whether a watermark or a background is drawn, whose colours are sRGB.
    static func draws(_ transform: Transform, _ plan: Plan, on header: ImageHeader, in format: ImageFormat) -> Bool {
        transform.watermark != nil || plan.canvas != nil
            || (header.hasAlpha && (transform.background != nil || !format.hasAlpha))
    }

    /// The least pixels of an original per pixel of its variant with which Huffman tables made for a JPEG take less than 5 % of the
    /// render. They save 4 to 9 % of the bytes there.
    private static let pixelsForTables = 48

    /// More effort than the codec's own where that takes little of the render's time; `nil` elsewhere.
    static func effort(of format: ImageFormat, for plan: Plan, from header: ImageHeader) -> Int? {
        let size = plan.finalSize
        let isCheap = header.width * header.height / max(size.width * size.height, 1) >= pixelsForTables
        return format == .jpeg && isCheap ? 5 : nil
    }

    private static func options(
        _ transform: Transform, _ header: ImageHeader, embedsProfile: Bool, effort: Int?
    ) -> EncodeOptions {
        var options = EncodeOptions(quality: transform.quality, effort: effort)
        if embedsProfile, case .icc(let profile) = header.colors { options.profile = profile }
        if !transform.stripsMetadata {
            options.exif = transform.appliesOrientation ? header.exif.map(EXIF.upright(tiff:)) : header.exif
        } else if transform.keepsCopyright, let copyright = header.copyright {
            options.exif = EXIF.tiff(copyright: copyright)
        }
        return options
    }

    /// The least size that the decoder may deliver: two pixels for each pixel of the variant, so that the coarser scaling of the
    /// decoder is invisible.
    func wants(_ header: ImageHeader) -> (width: Int, height: Int) {
        func wanted(_ side: Int, for pixels: Int, of length: Double) -> Int {
            Int((2 * Double(side) * Double(pixels) / length - 1e-6).rounded(.up))
        }
        return (
            wanted(header.width, for: plan.size.width, of: plan.region.width),
            wanted(header.height, for: plan.size.height, of: plan.region.height)
        )
    }

    /// The size of the whole original at the scale of the variant.
    /// - Parameter detail: how many times more samples than usual the decoder delivers on each side.
    func target(_ header: ImageHeader, detail: Double) -> DecodeRequest.Target {
        let across = detail * Double(plan.size.width) / plan.region.width
        let down = detail * Double(plan.size.height) / plan.region.height
        return DecodeRequest.Target(
            width: Double(header.width) * across, height: Double(header.height) * down, chroma: chroma)
    }
}
