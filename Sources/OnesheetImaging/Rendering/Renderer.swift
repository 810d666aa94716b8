package import NIOCore
package import OnesheetCore

/// Makes variants: bytes in, bytes out, synchronous, on the caller's thread. What it keeps between calls are tables.
package struct Renderer: Sendable {
    /// Whether amounts of light are averaged instead of the numbers that stand for them: right for very contrasty pictures,
    /// several times slower, and not what other image servers do unless asked.
    package var resamplesInLinearLight = false
    /// Whether a picture that ends early is rendered as far as it goes.
    package var acceptsTruncated = false

    /// How long one call of `render` or `hash` may take, from its first look at the bytes to the last byte encoded.
    package var deadline = Duration.seconds(20)
    /// Tells the time.
    package var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }

    let codecs: [any Codec]
    let limits: Limits
    let tables = FilterTableCache()
    let conversions = ColorConversions()

    package init(codecs: [any Codec], limits: Limits) {
        self.codecs = codecs
        self.limits = limits
    }

    /// The formats that can be read and written.
    package var formats: [ImageFormat] { codecs.map(\.format) }

    /// Reads what the file says of itself.
    /// - Throws: `RenderError.unrecognizedFormat`, or `.codec` where the header is damaged or names too many pixels.
    package func header(of original: ByteBuffer) throws(RenderError) -> ImageHeader {
        let bytes = original.readableBytesUInt8Span
        return try header(of: bytes, codec(for: bytes))
    }

    /// Renders one variant.
    package func render(_ original: ByteBuffer, as transform: Transform) throws(RenderError) -> RenderedImage {
        try render(original, as: [transform])[0]
    }

    /// Renders several variants of one original, which is decoded once; the outcome is in the order of `transforms`.
    ///
    /// - Throws: `RenderError`; nothing is decoded where a variant would be too large or could not be encoded. `.timedOut` after
    ///   `deadline`.
    package func render(_ original: ByteBuffer, as transforms: [Transform]) throws(RenderError) -> [RenderedImage] {
        let end = end()
        let bytes = original.readableBytesUInt8Span
        let codec = try codec(for: bytes)
        let header = try header(of: bytes, codec)
        var jobs: [Job] = []
        for transform in transforms {
            let seen = try resolvingSmartGravity(transform, in: bytes, codec, header: header, by: end)
            try jobs.append(Job(seen, of: header, codecs: codecs, conversions: conversions, limits: limits))
        }
        return try Rendering(jobs, of: header, with: self, by: end).run(bytes, codec)
    }

    /// The size that `transform` makes of an upright picture.
    package static func size(of transform: Transform, width: Int, height: Int) -> (width: Int, height: Int) {
        let size = Plan(transform, width: width, height: height, orientation: .up).finalSize
        return (size.width, size.height)
    }

    /// The perceptual hash of the picture, which is decoded as small as its codec can.
    /// - Throws: `RenderError`, `.timedOut` after `deadline`.
    package func hash(of original: ByteBuffer) throws(RenderError) -> PerceptualHash {
        let end = end()
        let bytes = original.readableBytesUInt8Span
        let codec = try codec(for: bytes)
        let header = try header(of: bytes, codec)
        let job = try Job(Self.hashing(header), of: header, codecs: codecs, conversions: conversions, limits: limits)
        do throws(CodecError) {
            return PerceptualHash(try Rendering([job], of: header, with: self, by: end).picture(bytes, codec))
        } catch {
            throw failure(error, in: codec.format)
        }
    }

    /// How a picture is looked at. Nothing is encoded; the format is the one that surely has a codec, and full quality keeps colour at
    /// full resolution.
    static func hashing(_ header: ImageHeader) -> Transform {
        var small = Transform()
        (small.resizing, small.width, small.height, small.enlarges) = (.force, 9, 8, true)
        (small.format, small.quality) = (header.format, 100)
        return small
    }

    /// The deadline of a call that begins now.
    func end() -> Deadline { Deadline(now().advanced(by: deadline), now: now) }

    /// The error of the render for a codec's error.
    func failure(_ error: CodecError, in format: ImageFormat) -> RenderError {
        error == .timedOut ? .timedOut(after: deadline) : .codec(error, format)
    }

    func codec(for bytes: Span<UInt8>) throws(RenderError) -> any Codec {
        for codec in codecs where codec.recognizes(bytes) { return codec }
        throw .unrecognizedFormat
    }

    func header(of bytes: Span<UInt8>, _ codec: any Codec) throws(RenderError) -> ImageHeader {
        do throws(CodecError) {
            let header = try codec.header(of: bytes)
            let (pixels, overflow) = header.width.multipliedReportingOverflow(by: header.height)
            guard !overflow, pixels <= limits.pixels else {
                throw .tooManyPixels(width: header.width, height: header.height, limit: limits.pixels)
            }
            guard header.width > 0, header.height > 0 else { throw .damaged(reason: "the picture has no pixels") }
            return header
        } catch {
            throw failure(error, in: codec.format)
        }
    }
}
