import OnesheetCore

extension Renderer {
    /// Replaces `Gravity.smart` by the point that attracts attention. This decodes the picture once more, as small as the codec
    /// can.
    func resolvingSmartGravity(
        _ transform: Transform, in bytes: Span<UInt8>, _ codec: any Codec, header: ImageHeader, by end: Deadline
    ) throws(RenderError) -> Transform {
        var resolved = transform
        if let crop = transform.crop, (crop.gravity ?? transform.gravity) == .smart {
            let whole = Turn(header.orientation).size(Size(width: header.width, height: header.height))
            var seen = Transform()
            seen.crop = crop
            let cut = Plan(seen, width: header.width, height: header.height, orientation: header.orientation).finalSize
            resolved.crop?.gravity = try attention(Transform(), in: bytes, codec, header: header, by: end)
                .focus(width: Double(cut.width) / Double(whole.width), height: Double(cut.height) / Double(whole.height))
        }
        guard transform.gravity == .smart else { return resolved }
        resolved.gravity = .center
        var seen = Transform()
        seen.crop = resolved.crop
        seen.rotation = transform.rotation
        (seen.flipsHorizontally, seen.flipsVertically) = (transform.flipsHorizontally, transform.flipsVertically)
        let size = Plan(seen, width: header.width, height: header.height, orientation: header.orientation).finalSize
        let scaling = Scaling(size, transform)
        guard scaling.result != scaling.scaled else { return resolved }
        resolved.gravity = try attention(seen, in: bytes, codec, header: header, by: end)
            .focus(
                width: Double(scaling.result.width) / Double(scaling.scaled.width),
                height: Double(scaling.result.height) / Double(scaling.scaled.height))
        return resolved
    }

    /// The transform for an analysis. Nothing is encoded. The format certainly has a codec, and full quality keeps chroma at full
    /// resolution.
    static func lookingSmall(_ seen: Transform, _ header: ImageHeader) -> Transform {
        var small = seen
        (small.width, small.height) = (Attention.side, Attention.side)
        (small.format, small.quality) = (header.format, 100)
        return small
    }

    private func attention(
        _ seen: Transform, in bytes: Span<UInt8>, _ codec: any Codec, header: ImageHeader, by end: Deadline
    ) throws(RenderError) -> Attention {
        let small = Self.lookingSmall(seen, header)
        let job = try Job(small, of: header, codecs: codecs, conversions: conversions, limits: limits)
        do throws(CodecError) {
            return Attention(try Rendering([job], of: header, with: self, by: end).picture(bytes, codec))
        } catch {
            throw failure(error, in: codec.format)
        }
    }
}
