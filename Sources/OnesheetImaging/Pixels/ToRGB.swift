import CImaging
import OnesheetCore

extension PixelBuffer {
    /// The picture in RGB with its alpha. Inks without a profile are converted by the simple formula.
    /// - Precondition: planes, if there are any, have the same size.
    borrowing func inRGB(limits: Limits, by deadline: Deadline) throws(CodecError) -> PixelBuffer {
        let width = layout.width
        let target = PixelLayout(width: width, height: layout.height, model: .rgb, hasAlpha: layout.hasAlpha)
        switch layout.model {
        case .rgb:
            return try mapped(to: target, limits: limits, by: deadline) { from, to in
                to.update(from: from, count: width * target.planes[0].channels)
            }
        case .gray:
            let channels = layout.hasAlpha ? 2 : 1
            return try mapped(to: target, limits: limits, by: deadline) { from, to in
                for x in 0..<width {
                    let pixel = to + x * (channels + 2)
                    for channel in 0..<3 { pixel[channel] = from[x * channels] }
                    if channels == 2 { pixel[3] = from[x * 2 + 1] }
                }
            }
        case .cmyk:
            return try mapped(to: target, limits: limits, by: deadline) { from, to in ck_rgb_from_cmyk(from, to, Int32(width)) }
        case .ycbcr:
            return try planesInRGB(target, limits: limits, by: deadline)
        }
    }

    private borrowing func planesInRGB(
        _ target: PixelLayout, limits: Limits, by deadline: Deadline
    ) throws(CodecError) -> PixelBuffer {
        precondition(layout.isPlanar && layout.subsampling == (1, 1), "planes of the same size")
        var picture = try PixelBuffer(target, limits: limits)
        var watch = DeadlineWatch(deadline)
        let strides = (stride(of: 0), stride(of: 1), stride(of: 2), picture.stride(of: 0))
        try withPlane(0) { luma throws(CodecError) in
            try withPlane(1) { blue throws(CodecError) in
                try withPlane(2) { red throws(CodecError) in
                    try picture.withMutablePlane(0) { to throws(CodecError) in
                        for y in 0..<target.height {
                            try watch.row(samples: target.width * 3)
                            ck_rgb_from_ycbcr(
                                luma + y * strides.0, blue + y * strides.1, red + y * strides.2, to + y * strides.3,
                                Int32(target.width))
                        }
                    }
                }
            }
        }
        return picture
    }

    /// The picture in sRGB. Gray stays gray, inks become RGB.
    borrowing func converted(
        _ conversion: ColorConversion, limits: Limits, by deadline: Deadline
    ) throws(CodecError) -> PixelBuffer {
        let target = PixelLayout(
            width: layout.width, height: layout.height, model: layout.model == .gray ? .gray : .rgb, hasAlpha: layout.hasAlpha)
        return try mapped(to: target, limits: limits, by: deadline) { from, to in
            conversion.apply(from, to, pixels: target.width)
        }
    }
}
