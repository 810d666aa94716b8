internal import NIOCore
package import OnesheetCore

/// The predicted cost of a render, computed from the original's header before decoding.
package struct RenderCost: Sendable, Equatable {
    /// For an average machine. The render queue scales it by measured times.
    package var milliseconds: Double
    /// The peak memory of codecs, tables, rows and pictures in bytes. An upper bound, if codecs respect their own predictions.
    package var bytes: Int

    package init(milliseconds: Double, bytes: Int) {
        self.milliseconds = milliseconds
        self.bytes = bytes
    }

    /// One variant: its job and its encoder.
    struct Output {
        var plan: Plan
        var transform: Transform
        var encoder: any Codec
        /// The size of the server's watermark.
        var watermark: Size?

        /// Whether a conversion is made, from the original's profile or to it.
        func usesProfile(of header: ImageHeader) -> Bool {
            Job.converts(transform, plan, of: header, in: encoder)
                || Job.draws(transform, plan, on: header, in: encoder.format)
        }

        /// Whether a quality may be searched for. A trimmed picture may be smaller than the plan says.
        var findsQuality: Bool {
            let size = plan.finalSize
            return transform.findsQuality && encoder.usesQuality
                && (transform.trim != nil || size.width * size.height <= QualitySearch.largest)
        }
    }

    private enum Nanoseconds {
        /// The time per decoded and encoded pixel, by format.
        static let pixel: [ImageFormat: (decode: Double, encode: Double)] = [
            .jpeg: (5, 10), .png: (12, 40), .webp: (15, 140), .avif: (40, 400), .gif: (12, 100),
            .heic: (40, 400), .jxl: (60, 400), .tiff: (12, 40),
        ]
        static let unknown = (decode: 40.0, encode: 100.0)
        /// The time per row, however short, for a decoder and a resampler.
        static let row = 240.0
        /// The time per weight in resampling.
        static let weight = 25.0
        /// The time per blurred or sharpened pixel.
        static let filter = 25.0
        /// The time per byte of a profile, and the fixed time of making a conversion.
        static let profile = (byte: 30.0, conversion: 2e6)
    }

    /// A pass over a progressive picture takes this fraction of the time of a baseline one. Finishing takes as long as the first
    /// ten passes.
    private static let scan = 0.3
    /// A decoder that scales takes about twice as long for many sizes as for one, whether in one pass or in several.
    fileprivate static let passes = 2
    /// The time per pixel for comparing two pictures.
    private static let comparison = 3.0

    /// - Parameters:
    ///   - decoding: bytes that the decoder allocates for one picture. It decodes one after the other.
    ///   - pictures: the pictures that it decodes.
    init(_ outline: PictureOutline, _ outputs: [Output], decoding: Int, pictures: Int = 1) {
        let header = outline.header
        let pixels = header.width * header.height
        let passes = header.isProgressive ? max(3, Double(header.scans) * Self.scan) : 1
        let decode =
            Double(pixels) * (Nanoseconds.pixel[header.format] ?? Nanoseconds.unknown).decode * passes
            + Double(header.height) * Nanoseconds.row
        var nanoseconds = decode * Double(pictures)
        var (held, finishing) = (decoding, 0)
        for output in outputs {
            nanoseconds += Self.nanoseconds(header, output)
            held += Self.held(header, output.plan)
            finishing = max(finishing, Self.finishing(header, output))
        }
        if outputs.contains(where: { $0.usesProfile(of: header) }), case .icc = header.colors {
            nanoseconds += Nanoseconds.profile.conversion + Double(outline.profile) * Nanoseconds.profile.byte
            // The profile here and in Little CMS, its tables with 16 bits, and the resulting table.
            finishing += outline.profile * 4 + 1 << 20
        }
        self.init(milliseconds: nanoseconds / 1e6, bytes: held + finishing)
    }

    /// The time for one variant without decoding.
    private static func nanoseconds(_ header: ImageHeader, _ output: Output) -> Double {
        let transform = output.transform
        let size = output.plan.finalSize
        let pixels = Double(size.width) * Double(size.height)
        let codec = Nanoseconds.pixel[output.encoder.format] ?? Nanoseconds.unknown
        // Each attempt at a quality is encoded, decoded and compared.
        let finding = Double(QualitySearch.attempts) * (codec.encode + codec.decode + comparison)
        let tries = Double(min(Rendering.tries(pixels: Int(pixels)) + 1, 7))
        let encode = (output.findsQuality ? finding : codec.encode) + (transform.maxBytes > 0 ? tries * codec.encode : 0)
        // Horizontally, six weights for each sample when shrinking or four when enlarging. Vertically, rows are averaged in boxes
        // first.
        let weights = 6 * Double(header.width) + 8 * Double(output.plan.size.width + output.plan.size.height)
        return pixels * (encode + Nanoseconds.filter * Double(transform.passes))
            + weights * Nanoseconds.weight * Double(planes(header)) + Nanoseconds.filter * Double(watermarkPixels(output))
    }

    private static func planes(_ header: ImageHeader) -> Int { header.model == .ycbcr ? 3 : 1 }

    /// The bytes that a variant occupies from the first row of the original to the end of the render: its picture and its
    /// resampler.
    private static func held(_ header: ImageHeader, _ plan: Plan) -> Int {
        let channels = header.model.channels + (header.hasAlpha ? 1 : 0)
        let count = planes(header)
        let plane = PlaneResampler.bytes(
            width: header.width, outputs: plan.size, horizontal: max(plan.region.width, 1) / Double(plan.size.width),
            vertical: max(plan.region.height, 1) / Double(plan.size.height), channels: channels / count)
        return plane * count + picture(plan.size, header, channels: channels)
    }

    /// The extra bytes for finishing a variant. Variants are finished one at a time.
    private static func finishing(_ header: ImageHeader, _ output: Output) -> Int {
        let (size, final) = (output.plan.turn.size(output.plan.size), output.plan.finalSize)
        let effects = output.transform.effects
        // One copy while it is turned, converted, filtered, put on a canvas or flattened; the copy replaces its predecessor.
        let staysAsItIs =
            header.model == .ycbcr && output.encoder.encodesPlanar && output.plan.canvas == nil && output.plan.turn == .none
            && header.colors == .sRGB && !effects.contains(.copy)
        let mayBeClear = header.hasAlpha || header.model == .cmyk || output.plan.canvas != nil
        let channels = mayBeClear ? 4 : 3
        let copies =
            staysAsItIs ? 0 : max(picture(size, header, channels: channels), picture(final, header, channels: channels))
        let filters = effects.contains(.rows) ? PixelBuffer.bytesToBlur(size, channels: 4) : 0
        let encoding = output.encoder.memoryToEncode(
            PixelLayout(width: final.width, height: final.height, model: .rgb, hasAlpha: mayBeClear),
            EncodeOptions(
                quality: output.transform.quality, effort: Job.effort(of: output.encoder.format, for: output.plan, from: header)))
        // A watermark is drawn after the filters and before encoding.
        let watermark = output.transform.watermark.flatMap { asked in
            output.watermark.map { WatermarkImage.bytes($0, scale: asked.scale, on: final) }
        }
        // The best attempt at a quality stays in memory while the next one is encoded, and then decoded.
        let finding = output.findsQuality ? encoding + comparing(final, hasAlpha: mayBeClear, output.encoder) : 0
        return copies + max(filters, encoding + finding, watermark ?? 0)
    }

    /// The bytes for decoding an attempt and for comparing it: the luma of both pictures, at full size and at smaller ones, and sums.
    private static func comparing(_ size: Size, hasAlpha: Bool, _ codec: any Codec) -> Int {
        let header = ImageHeader(
            format: codec.format, width: size.width, height: size.height, model: .rgb, hasAlpha: hasAlpha, isProgressive: true)
        return codec.memoryToDecode(header) + size.width * size.height * 5 / 2 + size.width * 16 + 1 << 16
    }

    /// The pixels of the watermark that are scaled for the output, and those that they become.
    private static func watermarkPixels(_ output: Output) -> Int {
        guard let watermark = output.transform.watermark, let own = output.watermark else { return 0 }
        let drawn = WatermarkImage.size(own, scale: watermark.scale, on: output.plan.finalSize)
        return own.width * own.height + drawn.width * drawn.height
    }

    /// The bytes of a picture, in planes if that takes more: each plane has its own padding.
    private static func picture(_ size: Size, _ header: ImageHeader, channels: Int) -> Int {
        let packed = PixelLayout(width: size.width, height: size.height, model: channels > 3 ? .cmyk : .rgb)
        guard header.model == .ycbcr else { return PixelBuffer.bytes(for: packed) }
        let planar = PixelLayout(width: size.width, height: size.height, planarWithSubsampling: 1, 1)
        return max(PixelBuffer.bytes(for: packed), PixelBuffer.bytes(for: planar))
    }
}

extension Renderer {
    /// The predicted cost of rendering an original.
    /// - Throws: `RenderError` if its header rules the render out.
    package func cost(of original: PictureOutline, as transforms: [Transform]) throws(RenderError) -> RenderCost {
        let header = original.header
        let decoder = try codecs.decoder(of: header.format)
        for transform in transforms { try check(transform, header, bytes: original.count) }
        var cost = try cost(original, as: transforms.map { $0.withLargestOutcome(header, limits) }, decodedBy: decoder)
        // Finding a border decodes the picture at full size and renders nothing.
        let trims = transforms.count { $0.trim != nil }
        if trims > 0 {
            let look = RenderCost(original, [], decoding: decoder.memoryToDecode(header))
            cost.milliseconds += look.milliseconds * Double(trims)
            cost.bytes = max(cost.bytes, look.bytes)
        }
        let looks = transforms.reduce(0) { $0 + $1.looks }
        if looks > 0 {
            // Each analysis decodes the picture again, as small as the codec can.
            let look = try self.cost(original, as: [Self.lookingSmall(Transform())], decodedBy: decoder)
            cost.milliseconds += look.milliseconds * Double(looks)
            cost.bytes = max(cost.bytes, look.bytes)
        }
        return cost
    }

    /// The predicted cost of `hash(of:)`.
    /// - Throws: `RenderError` if the header makes a prediction impossible.
    package func costOfHash(of original: PictureOutline) throws(RenderError) -> RenderCost {
        try cost(original, as: [Self.hashing], decodedBy: try codecs.decoder(of: original.format))
    }

    private func cost(
        _ original: PictureOutline, as transforms: [Transform], decodedBy decoder: any ImageDecoder
    ) throws(RenderError) -> RenderCost {
        let header = original.header
        var outputs: [RenderCost.Output] = []
        for transform in transforms {
            let plan = Plan(transform, width: header.width, height: header.height, orientation: header.orientation)
            for size in [plan.size, plan.finalSize] {
                let (pixels, overflow) = size.width.multipliedReportingOverflow(by: size.height)
                guard !overflow, pixels <= limits.outputPixels else {
                    throw .tooManyOutputPixels(width: size.width, height: size.height, limit: limits.outputPixels)
                }
            }
            if let asked = transform.watermark, let watermark {
                try Job.check(watermark.size, scale: asked.scale, on: plan.finalSize, limits)
            }
            let encoder = try codecs.encoder(of: transform, from: header)
            try Job.check(plan.finalSize, fits: encoder)
            outputs.append(RenderCost.Output(plan: plan, transform: transform, encoder: encoder, watermark: watermark?.size))
        }
        let pictures = decoder.scales ? max(min(outputs.count, RenderCost.passes), 1) : 1
        return RenderCost(original, outputs, decoding: decoder.memoryToDecode(header), pictures: pictures)
    }
}

extension Transform {
    /// The transform without `trim`, with a result that is at least as large as any that the trimmed picture can give.
    fileprivate func withLargestOutcome(_ header: ImageHeader, _ limits: Limits) -> Transform {
        guard trim != nil else { return self }
        var largest = self
        (largest.trim, largest.crop, largest.maxResultSide) = (nil, nil, 0)
        if maxResultSide > 0 {
            // Another part of the picture may be reduced less, but no side is longer.
            (largest.width, largest.height) = (min(width, maxResultSide), min(height, maxResultSide))
        }
        let hasLeast = minWidth > 0 || minHeight > 0 || zoomX > 1 || zoomY > 1
        if width > 0, height > 0, resizing != .cover, !hasLeast {
            (largest.resizing, largest.enlarges) = (.force, true)
        } else if !enlarges, !hasLeast, header.width * header.height <= limits.outputPixels {
            (largest.width, largest.height) = (0, 0)
        } else {
            // Enlarging a thin part may give a result of the maximum size.
            let side = Int(Double(limits.outputPixels).squareRoot())
            (largest.resizing, largest.enlarges, largest.width, largest.height) = (.force, true, side, side)
            (largest.minWidth, largest.minHeight, largest.zoomX, largest.zoomY) = (0, 0, 1, 1)
            (largest.extends, largest.extendsProportions, largest.padding) = (nil, nil, nil)
        }
        return largest
    }

    /// The number of analyses before the render.
    fileprivate var looks: Int {
        let cut = crop.map { ($0.gravity ?? gravity) == .smart } ?? false
        return (cut ? 1 : 0) + (gravity == .smart ? 1 : 0)
    }
}
