package import NIOCore
package import OnesheetCore

/// Makes variants from bytes, synchronously, on the calling thread. Between calls it caches only tables.
package struct Renderer: Sendable {
    /// Rises when the same original and transform give other bytes than before. It is part of the keys of variants, so that no
    /// cache mixes the variants of two versions.
    package static let version = 9

    /// Whether pixels are averaged in linear light, which adds up where a picture is seen from afar: fine and bright details keep their
    /// brightness. Analyses average stored values, so that their results stay comparable.
    package var resamplesInLinearLight = true
    /// Whether a truncated picture is rendered as far as it goes.
    package var acceptsTruncated = false

    /// The deadline for one call of `render` or `hash`, from its first look at the bytes to the last encoded byte.
    package var deadline = Duration.seconds(20)
    /// Returns the present time.
    package var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }

    /// The image for transforms with a watermark.
    package var watermark: WatermarkImage?

    let codecs: CodecSet
    let limits: Limits
    let tables = FilterTableCache()
    let conversions = ColorConversions()

    package init(codecs: [any Codec], decoders: [any ImageDecoder] = [], limits: Limits) {
        self.init(CodecSet(codecs: codecs, decoders: decoders), limits: limits)
    }

    package init(_ codecs: CodecSet, limits: Limits) {
        self.codecs = codecs
        self.limits = limits
    }

    /// The formats that can be written.
    package var formats: [ImageFormat] { codecs.writable }

    /// The decoders of all formats.
    package var decoders: [any ImageDecoder] { codecs.decoders }

    /// The formats that can be read.
    package var readableFormats: [ImageFormat] { codecs.readable }

    /// Finds the codec of a file and parses the file's header.
    /// - Throws: `RenderError.unrecognizedFormat` or `.foreignFormat`, or `.codec` if the header is damaged or announces too many pixels.
    package func open(_ original: ByteBuffer) throws(RenderError) -> EncodedPicture {
        EncodedPicture(bytes: original, file: try recognize(original.readableBytesUInt8Span))
    }

    /// Finds the codec of a file and parses the file's header.
    /// - Throws: as `open(_:)` does.
    package func recognize(_ bytes: Span<UInt8>) throws(RenderError) -> RecognizedFile {
        for codec in codecs.decoders where codec.recognizes(bytes) {
            return RecognizedFile(header: try header(of: bytes, codec), codec: codec, count: bytes.count)
        }
        if let foreign = ForeignFormat(of: bytes) { throw .foreignFormat(foreign) }
        throw .unrecognizedFormat
    }

    /// Parses the file's header.
    /// - Throws: as `open(_:)` does.
    package func header(of original: ByteBuffer) throws(RenderError) -> ImageHeader { try open(original).header }

    /// Renders one variant.
    package func render(_ original: ByteBuffer, as transform: Transform) throws(RenderError) -> RenderedImage {
        try render(original, as: [transform])[0]
    }

    /// Renders several variants of one original in as few passes over it as its codec needs. The results are in the order of
    /// `transforms`, and each has the bytes that it has alone.
    package func render(_ original: ByteBuffer, as transforms: [Transform]) throws(RenderError) -> [RenderedImage] {
        try render(open(original), as: transforms)
    }

    /// Renders several variants of one original in as few passes over it as its codec needs. The results are in the order of
    /// `transforms`, and each has the bytes that it has alone.
    ///
    /// - Throws: `RenderError`. Nothing is decoded if a variant would be too large or could not be encoded. `.timedOut` after
    ///   `deadline`.
    package func render(_ original: EncodedPicture, as transforms: [Transform]) throws(RenderError) -> [RenderedImage] {
        try render(original.bytes.readableBytesUInt8Span, original.file, as: transforms)
    }

    /// The same for a file that another process holds.
    package func render(
        _ bytes: Span<UInt8>, _ file: RecognizedFile, as transforms: [Transform]
    ) throws(RenderError) -> [RenderedImage] {
        let end = end()
        let (header, codec) = (file.header, file.codec)
        var jobs: [Job] = []
        for transform in transforms {
            try check(transform, header, bytes: bytes.count)
            let seen = try resolvingLooks(transform, in: bytes, codec, header: header, by: end)
            try jobs.append(Job(seen, of: header, codecs: codecs, watermark: watermark, conversions: conversions, limits: limits))
        }
        return try Rendering(jobs, of: header, with: self, by: end).run(bytes, codec)
    }

    /// - Throws: `RenderError` if the original is larger than `transform` allows.
    func check(_ transform: Transform, _ header: ImageHeader, bytes: Int) throws(RenderError) {
        if transform.maxSourcePixels > 0, header.width * header.height > transform.maxSourcePixels {
            throw .codec(
                .tooManyPixels(width: header.width, height: header.height, limit: transform.maxSourcePixels), header.format)
        }
        if transform.maxSourceBytes > 0, bytes > transform.maxSourceBytes {
            throw .tooManyBytes(bytes: bytes, limit: transform.maxSourceBytes)
        }
    }

    /// The output size of `transform` for an upright picture.
    package static func size(of transform: Transform, width: Int, height: Int) -> (width: Int, height: Int) {
        // They may come from a store.
        func side(_ pixels: Int) -> Int { min(max(pixels, 1), 1 << 24) }
        let size = Plan(transform, width: side(width), height: side(height), orientation: .up).finalSize
        return (size.width, size.height)
    }

    /// The perceptual hash of the picture. Decodes a small picture whole, and a larger one smaller.
    /// - Throws: `RenderError`, `.timedOut` after `deadline`.
    package func hash(of original: EncodedPicture) throws(RenderError) -> PerceptualHash {
        try hash(of: original.bytes.readableBytesUInt8Span, original.file)
    }

    /// The same for a file that another process holds.
    package func hash(of bytes: Span<UInt8>, _ file: RecognizedFile) throws(RenderError) -> PerceptualHash {
        let end = end()
        let (header, codec) = (file.header, file.codec)
        let job = try Job(Self.hashing, of: header, codecs: codecs, watermark: nil, conversions: conversions, limits: limits)
        do throws(CodecError) {
            return PerceptualHash(
                // Neighbouring averages that are nearly equal are compared, so they are of many samples. Otherwise a picture and its
                // copy of 80 pixels differ.
                try Rendering([job], of: header, with: analyst, by: end, detail: 16).picture(bytes, codec))
        } catch {
            throw failure(error, in: codec.format)
        }
    }

    /// The transform for an analysis. Nothing is encoded. No format is named, so there is a codec, and full quality keeps chroma at
    /// full resolution.
    static var hashing: Transform {
        var small = Transform()
        (small.resizing, small.width, small.height, small.enlarges) = (.force, 9, 8, true)
        small.quality = 100
        return small
    }

    /// The renderer for analyses.
    var analyst: Renderer {
        var analyst = self
        analyst.resamplesInLinearLight = false
        return analyst
    }

    /// The deadline of a call that starts now.
    func end() -> Deadline { Deadline(now().advanced(by: deadline), now: now) }

    /// The render error for a codec error.
    func failure(_ error: CodecError, in format: ImageFormat) -> RenderError {
        error == .timedOut ? .timedOut(after: deadline) : .codec(error, format)
    }

    private func header(of bytes: Span<UInt8>, _ codec: any ImageDecoder) throws(RenderError) -> ImageHeader {
        do throws(CodecError) {
            let header = try codec.header(of: bytes)
            let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
            guard !overflow, pixels <= limits.pixels else {
                throw .tooManyPixels(width: header.width, height: header.height, limit: limits.pixels)
            }
            guard header.width > 0, header.height > 0 else { throw .damaged(reason: "the image has no pixels") }
            return header
        } catch {
            throw failure(error, in: codec.format)
        }
    }

    /// Encodes and decodes a small picture in each format and converts colours, so that libraries have loaded and looked up what they do
    /// once. Errors do not matter: a codec may refuse such a picture.
    package func exercise() {
        let layout = PixelLayout(width: 16, height: 16, model: .rgb)
        for codec in codecs.codecs {
            guard let picture = try? PixelBuffer(layout, limits: limits),
                let file = try? codec.encode(picture, EncodeOptions(deadline: end()))
            else { continue }
            var transform = Transform()
            (transform.width, transform.format) = (8, codec.format)
            _ = try? render(file, as: transform)
        }
        // The library of colours asks for the date when it makes a profile, and the C library then reads the time zone.
        for model in [ColorModel.gray, .rgb, .cmyk] {
            _ = ColorConversion(.gamma(2, chromaticities: nil), channels: model.channels, hasAlpha: false)
        }
    }

    /// Decodes a watermark upright and in sRGB.
    /// - Parameters:
    ///   - opacity: 0 to 1.
    ///   - digest: identifies the file and its opacity.
    /// - Throws: `RenderError`, for example if it has more than `WatermarkImage.mostPixels`.
    package func watermark(_ file: ByteBuffer, opacity: Double, digest: String) throws(RenderError) -> WatermarkImage {
        let original = try open(file)
        let header = original.header
        guard header.width * header.height <= WatermarkImage.mostPixels else {
            throw .codec(
                .tooManyPixels(width: header.width, height: header.height, limit: WatermarkImage.mostPixels), header.format)
        }
        var transform = Transform()
        transform.quality = 100
        // Nothing is encoded, but a format without alpha would have a background.
        if header.hasAlpha { transform.format = formats.first(where: \.hasAlpha) }
        let job = try Job(transform, of: header, codecs: codecs, watermark: nil, conversions: conversions, limits: limits)
        do throws(CodecError) {
            let picture = try Rendering([job], of: header, with: self, by: end())
                .picture(file.readableBytesUInt8Span, original.codec)
            return WatermarkImage(picture, opacity: opacity, digest: digest)
        } catch {
            throw failure(error, in: header.format)
        }
    }
}

/// A file whose header has been parsed, without its bytes.
package struct RecognizedFile: Sendable {
    package let header: ImageHeader
    let codec: any ImageDecoder
    /// Bytes of the file.
    let count: Int

    package var outline: PictureOutline { PictureOutline(header, count: count) }
}

/// An encoded picture whose header has been parsed.
package struct EncodedPicture: Sendable {
    package let bytes: ByteBuffer
    package let file: RecognizedFile
    package var header: ImageHeader { file.header }
    package var outline: PictureOutline { file.outline }
    var codec: any ImageDecoder { file.codec }
}

/// A variant as it is served: encoded, with its facts.
package struct RenderedImage: Sendable {
    package var body: ByteBuffer
    package var format: ImageFormat
    package var width: Int
    package var height: Int
    package var placeholder: Placeholder

    package init(body: ByteBuffer, format: ImageFormat, width: Int, height: Int, placeholder: Placeholder) {
        self.body = body
        self.format = format
        self.width = width
        self.height = height
        self.placeholder = placeholder
    }
}
