import OnesheetCore

extension Renderer {
    /// Resolves the options that depend on the pixels: replaces `trim` with the part that it leaves, and `Gravity.smart` with the
    /// point that attracts attention. Each decodes the picture once more; the second at the smallest size that the codec offers.
    func resolvingLooks(
        _ transform: Transform, in bytes: Span<UInt8>, _ codec: any ImageDecoder, header: ImageHeader, by end: Deadline
    ) throws(RenderError) -> Transform {
        func attention(_ seen: Transform) throws(RenderError) -> Attention {
            try self.attention(seen, in: bytes, codec, header: header, by: end)
        }
        var resolved = transform
        resolved.trim = nil
        var seen = Transform()
        seen.appliesOrientation = transform.appliesOrientation
        var part = Rectangle((0, 0), Turn(header.orientation, of: transform).size(Size(width: header.width, height: header.height)))
        if let trim = transform.trim {
            part = try partInside(trim, turnedBy: transform, in: bytes, codec: codec, header: header, by: end)
            seen.crop = Transform.Crop(part)
        }
        if var crop = transform.crop {
            let size = Size(width: Int(part.width), height: Int(part.height))
            var cutting = Transform()
            (cutting.crop, cutting.gravity) = (crop, transform.gravity)
            if (crop.gravity ?? transform.gravity) == .smart {
                let cut = Plan.cut(cutting, size)
                crop.gravity = try attention(seen).focus(width: cut.width / part.width, height: cut.height / part.height)
                cutting.crop = crop
            }
            if transform.trim != nil {
                guard !Plan.isBeside(cutting, size) else { throw .outside(width: size.width, height: size.height) }
                var cut = Plan.cut(cutting, size)
                (cut.x, cut.y) = (cut.x + part.x, cut.y + part.y)
                crop = Transform.Crop(cut)
            }
            seen.crop = crop
        }
        resolved.crop = seen.crop
        guard transform.gravity == .smart else { return resolved }
        resolved.gravity = .center
        seen.rotation = transform.rotation
        (seen.flipsHorizontally, seen.flipsVertically) = (transform.flipsHorizontally, transform.flipsVertically)
        let size = Plan(seen, width: header.width, height: header.height, orientation: header.orientation).finalSize
        let scaling = Scaling(size, transform)
        guard scaling.result != scaling.scaled else { return resolved }
        resolved.gravity = try attention(seen)
            .focus(
                width: Double(scaling.result.width) / Double(scaling.scaled.width),
                height: Double(scaling.result.height) / Double(scaling.scaled.height))
        return resolved
    }

    /// The transform for an analysis of the picture. Its result is never encoded. No format is named, so there is a codec, and the
    /// highest quality keeps colour at full resolution.
    static func lookingSmall(_ seen: Transform) -> Transform {
        var small = seen
        (small.width, small.height) = (Attention.side, Attention.side)
        (small.format, small.quality) = (nil, 100)
        return small
    }

    private func attention(
        _ seen: Transform, in bytes: Span<UInt8>, _ codec: any ImageDecoder, header: ImageHeader, by end: Deadline
    ) throws(RenderError) -> Attention {
        let small = Self.lookingSmall(seen)
        let job = try Job(small, of: header, codecs: codecs, watermark: nil, conversions: conversions, limits: limits)
        do throws(CodecError) {
            return Attention(try Rendering([job], of: header, with: analyst, by: end).picture(bytes, codec))
        } catch {
            throw failure(error, in: codec.format)
        }
    }

    /// The part inside the border, in the picture as `transform` turns it.
    private func partInside(
        _ trim: Transform.Trim, turnedBy transform: Transform, in bytes: Span<UInt8>, codec: any ImageDecoder, header: ImageHeader,
        by end: Deadline
    ) throws(RenderError) -> Rectangle {
        var sink = BorderSink(trim, by: end)
        do throws(CodecError) {
            try codec.decode(
                bytes, DecodeRequest(acceptsTruncated: acceptsTruncated, limits: limits, deadline: end), into: &sink)
        } catch {
            throw failure(error, in: codec.format)
        }
        let stored = Size(width: header.width, height: header.height)
        let turn = Turn(header.orientation, of: transform)
        let whole = turn.size(stored)
        var part = turn.done(sink.inside ?? Rectangle((0, 0), stored), in: stored)
        if trim.isEqualHorizontally {
            let edge = min(part.x, Double(whole.width) - part.x - part.width)
            (part.x, part.width) = (edge, Double(whole.width) - 2 * edge)
        }
        if trim.isEqualVertically {
            let edge = min(part.y, Double(whole.height) - part.y - part.height)
            (part.y, part.height) = (edge, Double(whole.height) - 2 * edge)
        }
        return part
    }
}

extension Transform.Crop {
    /// - Parameter part: whole pixels.
    fileprivate init(_ part: Rectangle) {
        self.init(width: part.width, height: part.height, gravity: .corner(x: Int(part.x), y: Int(part.y)))
    }
}
