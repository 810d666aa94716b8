import OnesheetCore

extension PixelBuffer {
    /// A picture made row by row from this one, both in one packed plane. `body` gets a row of this picture and writes one of the
    /// other.
    /// - Throws: `CodecError.timedOut`.
    borrowing func mapped(
        to layout: PixelLayout, limits: Limits, by deadline: Deadline,
        _ body: (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Void
    ) throws(CodecError) -> PixelBuffer {
        var picture = try PixelBuffer(layout, limits: limits)
        var watch = DeadlineWatch(deadline)
        let samples = layout.width * layout.planes[0].channels
        let (stride, targetStride) = (stride(of: 0), picture.stride(of: 0))
        try withPlane(0) { from throws(CodecError) in
            try picture.withMutablePlane(0) { to throws(CodecError) in
                for y in 0..<layout.height {
                    body(from + y * stride, to + y * targetStride)
                    try watch.row(samples: samples)
                }
            }
        }
        return picture
    }
}

extension PixelBuffer {
    /// The picture turned; all planes alike.
    borrowing func turned(_ turn: Turn, limits: Limits, by deadline: Deadline) throws(CodecError) -> PixelBuffer {
        let size = turn.size(Size(width: layout.width, height: layout.height))
        let target: PixelLayout
        if layout.isPlanar {
            let (x, y) = layout.subsampling
            target = PixelLayout(
                width: size.width, height: size.height, planarWithSubsampling: turn.transposes ? y : x, turn.transposes ? x : y)
        } else {
            target = PixelLayout(width: size.width, height: size.height, model: layout.model, hasAlpha: layout.hasAlpha)
        }
        var picture = try PixelBuffer(target, limits: limits)
        var watch = DeadlineWatch(deadline)
        for (index, plane) in target.planes.enumerated() {
            let (stride, targetStride) = (stride(of: index), picture.stride(of: index))
            // The distance in this picture between two neighbouring pixels of the output, in bytes.
            let across = (turn.transposes ? stride : plane.channels) * (turn.mirrorsX ? -1 : 1)
            let down = (turn.transposes ? plane.channels : stride) * (turn.mirrorsY ? -1 : 1)
            let first = (turn.mirrorsX ? -across * (plane.width - 1) : 0) + (turn.mirrorsY ? -down * (plane.height - 1) : 0)
            try withPlane(index) { from throws(CodecError) in
                try picture.withMutablePlane(index) { to throws(CodecError) in
                    for y in 0..<plane.height {
                        try watch.row(samples: plane.width * plane.channels)
                        let (from, to) = (from + first + y * down, to + y * targetStride)
                        for x in 0..<plane.width {
                            for channel in 0..<plane.channels { to[x * plane.channels + channel] = from[x * across + channel] }
                        }
                    }
                }
            }
        }
        return picture
    }
}
