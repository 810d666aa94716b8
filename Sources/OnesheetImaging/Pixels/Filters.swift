import CImagingKernels
import OnesheetCore

extension PixelBuffer {
    /// The picture blurred by a Gaussian of `deviation` pixels; transparent pixels lend no colour.
    borrowing func blurred(_ deviation: Double, axes: AxisCache, limits: Limits) throws(CodecError) -> PixelBuffer {
        let deviation = min(deviation, 1000)
        // A wide bell is as smooth when made from fewer pixels, and costs a bounded time.
        if deviation > 8, layout.width > 16, layout.height > 16 {
            let factor = deviation / 4
            let size = Size(
                width: max(Int(Double(layout.width) / factor), 4), height: max(Int(Double(layout.height) / factor), 4))
            let small = try resampled(to: size, axes: axes, limits: limits) { _ in nil }
            let soft = try small.blurred(4, axes: axes, limits: limits)
            return try soft.resampled(
                to: Size(width: layout.width, height: layout.height), axes: axes, limits: limits
            ) { _ in nil }
        }
        let size = Size(width: layout.width, height: layout.height)
        return try resampled(to: size, axes: axes, limits: limits) { subsampling in
            .gaussian(max(deviation / Double(subsampling), 0.1))
        }
    }

    /// The whole picture at another size, or at its own by a kernel of one's choice.
    private borrowing func resampled(
        to size: Size, axes: AxisCache, limits: Limits, _ kernel: (_ subsampling: Int) -> Kernel?
    ) throws(CodecError) -> PixelBuffer {
        let target =
            layout.isPlanar
            ? PixelLayout(
                width: size.width, height: size.height, planarWithSubsampling: layout.subsampling.x, layout.subsampling.y)
            : PixelLayout(width: size.width, height: size.height, model: layout.model, hasAlpha: layout.hasAlpha)
        var picture = try PixelBuffer(target, limits: limits)
        for (index, plane) in layout.planes.enumerated() {
            let (x, y) = index > 0 ? layout.subsampling : (1, 1)
            let outcome = target.planes[index]
            func axis(_ length: Int, _ outputs: Int, _ subsampling: Int, _ step: Int) -> Axis {
                let stretch = Stretch(
                    start: 0, length: Double(length), outputs: outputs, bounds: 0..<length, kernel: kernel(subsampling))
                return axes.axis(stretch, samples: length, step: step)
            }
            let resampler = PlaneResampler(
                across: axis(plane.width, outcome.width, x, Int(CK_TAPS)), down: axis(plane.height, outcome.height, y, 2),
                channels: plane.channels,
                hasAlpha: layout.hasAlpha, scale: layout.hasAlpha ? .stored : nil,
                target: picture.withMutablePlane(index) { $0 }, stride: picture.stride(of: index), width: plane.width,
                height: plane.height)
            let stride = stride(of: index)
            withPlane(index) { from in
                for row in 0..<plane.height { resampler.take(from + row * stride, y: row) }
            }
        }
        return picture
    }

    /// Unsharp mask: what a Gaussian of `deviation` pixels takes away is added once more. Of a planar picture only luma is sharpened,
    /// alpha never is.
    mutating func sharpen(_ deviation: Double, axes: AxisCache, limits: Limits) throws(CodecError) {
        let soft = try blurred(deviation, axes: axes, limits: limits)
        let plane = layout.planes[0]
        let colors = plane.channels - (layout.hasAlpha ? 1 : 0)
        let stride = stride(of: 0)
        soft.withPlane(0) { soft in
            withMutablePlane(0) { sharp in
                for y in 0..<plane.height {
                    let (soft, sharp) = (soft + y * stride, sharp + y * stride)
                    for x in 0..<plane.width {
                        for channel in 0..<colors {
                            let sample = x * plane.channels + channel
                            sharp[sample] = UInt8(clamping: 2 * Int(sharp[sample]) - Int(soft[sample]))
                        }
                    }
                }
            }
        }
    }
}
