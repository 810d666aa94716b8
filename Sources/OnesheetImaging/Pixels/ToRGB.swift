import CImagingKernels
import OnesheetCore

extension PixelBuffer {
    /// The picture in RGB, alpha kept; inks without a profile by the plain rule.
    /// - Precondition: planes, where there are any, have the same size.
    borrowing func inRGB(limits: Limits) throws(CodecError) -> PixelBuffer {
        let width = layout.width
        let target = PixelLayout(width: width, height: layout.height, model: .rgb, hasAlpha: layout.hasAlpha)
        switch layout.model {
        case .rgb:
            return try mapped(to: target, limits: limits) { from, to in
                to.update(from: from, count: width * target.planes[0].channels)
            }
        case .gray:
            let channels = layout.hasAlpha ? 2 : 1
            return try mapped(to: target, limits: limits) { from, to in
                for x in 0..<width {
                    let pixel = to + x * (channels + 2)
                    for channel in 0..<3 { pixel[channel] = from[x * channels] }
                    if channels == 2 { pixel[3] = from[x * 2 + 1] }
                }
            }
        case .cmyk:
            return try mapped(to: target, limits: limits) { from, to in ck_rgb_from_cmyk(from, to, Int32(width)) }
        case .ycbcr:
            return try planesInRGB(target, limits: limits)
        }
    }

    private borrowing func planesInRGB(_ target: PixelLayout, limits: Limits) throws(CodecError) -> PixelBuffer {
        precondition(layout.isPlanar && layout.subsampling == (1, 1), "planes of the same size")
        var picture = try PixelBuffer(target, limits: limits)
        let strides = (stride(of: 0), stride(of: 1), stride(of: 2), picture.stride(of: 0))
        withPlane(0) { luma in
            withPlane(1) { blue in
                withPlane(2) { red in
                    picture.withMutablePlane(0) { to in
                        for y in 0..<target.height {
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
    borrowing func converted(_ conversion: ColorConversion, limits: Limits) throws(CodecError) -> PixelBuffer {
        let target = PixelLayout(
            width: layout.width, height: layout.height, model: layout.model == .gray ? .gray : .rgb, hasAlpha: layout.hasAlpha)
        return try mapped(to: target, limits: limits) { from, to in conversion.apply(from, to, pixels: target.width) }
    }
}
