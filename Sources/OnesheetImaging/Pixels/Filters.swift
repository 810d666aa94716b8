import OnesheetCore

extension PixelBuffer {
    /// The picture blurred by a Gaussian of `deviation` pixels. Transparent pixels contribute no colour.
    borrowing func blurred(
        _ deviation: Double, tables: FilterTableCache, limits: Limits, by deadline: Deadline
    ) throws(CodecError) -> PixelBuffer {
        let deviation = min(deviation, Self.widestBlur)
        let size = Size(width: layout.width, height: layout.height)
        let small = Self.sizeToBlur(size, deviation)
        // The smaller picture has its own deviation in each direction, in its own pixels.
        let across = deviation * Double(small.width) / Double(size.width)
        let down = deviation * Double(small.height) / Double(size.height)
        func bell(_ isAcross: Bool, _ subsampling: Int) -> Kernel {
            .gaussian(max((isAcross ? across : down) / Double(subsampling), 0.1))
        }
        guard small != size else { return try resampled(to: size, tables: tables, limits: limits, by: deadline, bell) }
        let soft = try resampled(to: small, tables: tables, limits: limits, by: deadline) { _, _ in nil }
            .resampled(to: small, tables: tables, limits: limits, by: deadline, bell)
        return try soft.resampled(to: size, tables: tables, limits: limits, by: deadline) { _, _ in nil }
    }

    private static var widestBlur: Double { 1000 }
    /// The largest deviation that is computed at full size.
    private static var widestBell: Double { 8 }

    /// The size at which a picture is blurred. A wide Gaussian is as smooth at a smaller size, and costs bounded time. A side of a
    /// few pixels is not reduced: no Gaussian is wider than it.
    static func sizeToBlur(_ size: Size, _ deviation: Double) -> Size {
        let factor = min(deviation, widestBlur) / 4
        guard deviation > widestBell else { return size }
        func side(_ side: Int) -> Int { side > 16 ? max(Int(Double(side) / factor), 4) : side }
        return Size(width: side(size.width), height: side(size.height))
    }

    /// The most bytes for blurring, not counting the picture and the output.
    static func bytesToBlur(_ size: Size, channels: Int) -> Int {
        let small = PixelLayout(width: size.width / 2 + 8, height: size.height / 2 + 8, model: channels < 4 ? .rgb : .cmyk)
        return 2 * bytes(for: small)
            + PlaneResampler.bytes(
                width: size.width, outputs: size, horizontal: 1, vertical: 1, channels: channels, kernel: .gaussian(widestBell))
            + PlaneResampler.bytes(
                width: size.width, outputs: size, horizontal: 1, vertical: widestBlur / 4, channels: channels)
    }

    /// The whole picture at another size, or at its own size with another kernel.
    borrowing func resampled(
        to size: Size, tables: FilterTableCache, limits: Limits, by deadline: Deadline,
        _ kernel: (_ isAcross: Bool, _ subsampling: Int) -> Kernel?
    ) throws(CodecError) -> PixelBuffer {
        let target =
            layout.isPlanar
            ? PixelLayout(
                width: size.width, height: size.height, planarWithSubsampling: layout.subsampling.x, layout.subsampling.y)
            : PixelLayout(width: size.width, height: size.height, model: layout.model, hasAlpha: layout.hasAlpha)
        var picture = try PixelBuffer(target, limits: limits)
        var watch = DeadlineWatch(deadline)
        for (index, plane) in layout.planes.enumerated() {
            let (x, y) = index > 0 ? layout.subsampling : (1, 1)
            let outcome = target.planes[index]
            func resampling(_ length: Int, to outputs: Int, by kernel: Kernel?) -> ResamplingWindow {
                ResamplingWindow(start: 0, length: Double(length), outputs: outputs, bounds: 0..<length, kernel: kernel)
            }
            let resampler = try PlaneResampler(
                across: resampling(plane.width, to: outcome.width, by: kernel(true, x)),
                down: resampling(plane.height, to: outcome.height, by: kernel(false, y)), tables: tables, channels: plane.channels,
                hasAlpha: layout.hasAlpha, scale: layout.hasAlpha ? .stored : nil,
                target: picture.withMutablePlane(index) { $0 }, stride: picture.stride(of: index), width: plane.width,
                height: plane.height, by: deadline)
            let stride = stride(of: index)
            let samplesPerRow = plane.width * plane.channels + outcome.width * outcome.channels * outcome.height / plane.height
            try withPlane(index) { from throws(CodecError) in
                for row in 0..<plane.height {
                    resampler.add(from + row * stride, y: row)
                    try watch.row(samples: samplesPerRow)
                }
            }
        }
        return picture
    }

    /// Unsharp mask: adds the difference to a Gaussian of `deviation` pixels. In a planar picture, sharpens only luma. Never
    /// sharpens alpha.
    mutating func sharpen(
        _ deviation: Double, tables: FilterTableCache, limits: Limits, by deadline: Deadline
    ) throws(CodecError) {
        let soft = try blurred(deviation, tables: tables, limits: limits, by: deadline)
        var watch = DeadlineWatch(deadline)
        let plane = layout.planes[0]
        let colors = plane.channels - (layout.hasAlpha ? 1 : 0)
        let stride = stride(of: 0)
        try soft.withPlane(0) { soft throws(CodecError) in
            try withMutablePlane(0) { sharp throws(CodecError) in
                for y in 0..<plane.height {
                    try watch.row(samples: plane.width * plane.channels)
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
