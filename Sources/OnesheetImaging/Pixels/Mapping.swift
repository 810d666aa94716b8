import OnesheetCore

extension PixelBuffer {
    /// A picture made row by row from this one's rows, of one packed plane each: `body` gets a row of this one and writes one of the other.
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
