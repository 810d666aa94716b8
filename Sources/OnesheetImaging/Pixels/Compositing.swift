import OnesheetCore

extension PixelBuffer {
    /// The picture in RGB on a canvas of `color`, or on a transparent one.
    borrowing func placed(on canvas: Plan.Canvas, color: Color?, limits: Limits, by deadline: Deadline) throws(CodecError)
        -> PixelBuffer
    {
        let (source, sourceChannels) = (layout, layout.planes[0].channels)
        let target = PixelLayout(
            width: canvas.size.width, height: canvas.size.height, model: .rgb, hasAlpha: color == nil || source.hasAlpha)
        let channels = target.planes[0].channels
        let fill: [UInt8] = color.map { [$0.red, $0.green, $0.blue, 255] } ?? [0, 0, 0, 0]
        var picture = try PixelBuffer(target, limits: limits)
        var watch = DeadlineWatch(deadline)
        let (stride, targetStride) = (stride(of: 0), picture.stride(of: 0))
        try withPlane(0) { from throws(CodecError) in
            try picture.withMutablePlane(0) { to throws(CodecError) in
                for y in 0..<target.height {
                    try watch.row(samples: target.width * channels)
                    let row = to + y * targetStride
                    for x in 0..<target.width {
                        for channel in 0..<channels { row[x * channels + channel] = fill[channel] }
                    }
                    guard (canvas.y..<canvas.y + source.height).contains(y) else { continue }
                    let pixels = from + (y - canvas.y) * stride
                    for x in 0..<source.width {
                        let pixel = row + (canvas.x + x) * channels
                        for channel in 0..<sourceChannels { pixel[channel] = pixels[x * sourceChannels + channel] }
                        if sourceChannels == 3, channels == 4 { pixel[3] = 255 }
                    }
                }
            }
        }
        return picture
    }

    /// The picture in RGB, with `color` behind its transparent parts.
    borrowing func flattened(on color: Color, limits: Limits, by deadline: Deadline) throws(CodecError) -> PixelBuffer {
        let width = layout.width
        let back = [Int(color.red), Int(color.green), Int(color.blue)]
        let target = PixelLayout(width: width, height: layout.height, model: .rgb)
        return try mapped(to: target, limits: limits, by: deadline) { from, to in
            for x in 0..<width {
                let alpha = Int(from[x * 4 + 3])
                for channel in 0..<3 {
                    to[x * 3 + channel] = UInt8((Int(from[x * 4 + channel]) * alpha + back[channel] * (255 - alpha) + 127) / 255)
                }
            }
        }
    }
}
