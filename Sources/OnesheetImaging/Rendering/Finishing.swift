import NIOCore
import OnesheetCore

extension Rendering {
    /// A resampled picture in its output form.
    func finish(_ job: Job, _ resampled: consuming PixelBuffer) throws(CodecError) -> RenderedImage {
        let picture = try finished(job, resampled)
        return RenderedImage(
            body: try encode(job, picture), format: job.encoder.format, width: picture.layout.width,
            height: picture.layout.height, placeholder: Placeholder(picture))
    }

    /// Turns, converts, filters and flattens a resampled picture and puts it on its canvas, before encoding.
    func finished(_ job: Job, _ resampled: consuming PixelBuffer) throws(CodecError) -> PixelBuffer {
        var limits = renderer.limits
        limits.pixels = limits.outputPixels
        var picture = resampled
        if job.plan.turn != .none { picture = try picture.turned(job.plan.turn, limits: limits, by: deadline) }
        picture = try inFinalColors(picture, of: job, limits: limits)
        if job.transform.blur > 0 {
            picture = try picture.blurred(job.transform.blur, tables: renderer.tables, limits: limits, by: deadline)
        }
        if job.transform.sharpen > 0 {
            try picture.sharpen(job.transform.sharpen, tables: renderer.tables, limits: limits, by: deadline)
        }
        if job.transform.pixelates > 1 { try picture.pixelate(job.transform.pixelates, by: deadline) }
        if job.transform.isGray { try picture.keepLuminance(by: deadline) }
        let keepsAlpha = job.encoder.format.hasAlpha && job.transform.background == nil
        let back = (job.transform.background ?? .white).converted(job.drawing)
        if job.transform.isBitonal {
            // First, because flattening black that is half transparent gives gray.
            if picture.layout.hasAlpha, !keepsAlpha { picture = try flattened(picture, on: back, limits) }
            picture = try picture.inBlackAndWhite(limits: limits, by: deadline)
        }
        if let canvas = job.plan.canvas {
            picture = try picture.inRGB(limits: limits, by: deadline)
            picture = try picture.placed(on: canvas, color: keepsAlpha ? nil : back, limits: limits, by: deadline)
        }
        if picture.layout.hasAlpha, !keepsAlpha { picture = try flattened(picture, on: back, limits) }
        if let watermark = job.transform.watermark, let image = job.watermark {
            if picture.layout.model != .rgb { picture = try picture.inRGB(limits: limits, by: deadline) }
            let size = Size(width: picture.layout.width, height: picture.layout.height)
            var mark = try image.scaled(watermark.scale, on: size, tables: renderer.tables, by: deadline)
            if let drawing = job.drawing {
                let (layout, stride) = (mark.layout, mark.stride(of: 0))
                mark.withMutablePlane(0) { start in
                    for y in 0..<layout.height { drawing.apply(start + y * stride, start + y * stride, pixels: layout.width) }
                }
            }
            try picture.draw(mark, as: watermark, opacity: watermark.opacity * image.opacity, by: deadline)
        }
        return picture
    }

    private func flattened(
        _ picture: consuming PixelBuffer, on back: Color, _ limits: Limits
    ) throws(CodecError) -> PixelBuffer {
        try picture.inRGB(limits: limits, by: deadline).flattened(on: back, limits: limits, by: deadline)
    }

    /// The picture in the colour space of the output.
    private func inFinalColors(
        _ picture: consuming PixelBuffer, of job: Job, limits: Limits
    ) throws(CodecError) -> PixelBuffer {
        var picture = picture
        if picture.layout.isPlanar, !job.keepsPlanes { picture = try picture.inRGB(limits: limits, by: deadline) }
        // The decoder may deliver other pixels than the header announced. A conversion for the announced pixels does not fit them.
        if let conversion = job.conversion, picture.layout.model.channels == header.model.channels,
            picture.layout.hasAlpha == header.hasAlpha
        {
            picture = try picture.converted(conversion, limits: limits, by: deadline)
        } else if picture.layout.model == .cmyk {
            picture = try picture.inRGB(limits: limits, by: deadline)
        }
        return picture
    }
}

extension Color {
    /// The colour in the colour space of the output.
    fileprivate func converted(_ conversion: ColorConversion?) -> Color {
        guard let conversion else { return self }
        var pixel = [red, green, blue, 255]
        pixel.withUnsafeMutableBufferPointer { pixel in
            if let start = pixel.baseAddress { conversion.apply(start, start, pixels: 1) }
        }
        return Color(red: pixel[0], green: pixel[1], blue: pixel[2])
    }
}
