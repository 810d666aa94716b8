import OnesheetCore

extension PixelBuffer {
    /// A picture made row by row from this one's rows, of one packed plane each: `body` gets a row of this one and writes one of the other.
    borrowing func mapped(
        to layout: PixelLayout, limits: Limits, _ body: (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Void
    ) throws(CodecError) -> PixelBuffer {
        var picture = try PixelBuffer(layout, limits: limits)
        let (stride, targetStride) = (stride(of: 0), picture.stride(of: 0))
        withPlane(0) { from in
            picture.withMutablePlane(0) { to in
                for y in 0..<layout.height { body(from + y * stride, to + y * targetStride) }
            }
        }
        return picture
    }
}
