public import OnesheetCore

/// A sink that stores the whole picture for tests.
public struct DecodedPicture: RowSink, ~Copyable {
    private var picture: PixelBuffer?

    public init() {}

    public mutating func begin(_ layout: PixelLayout) throws(CodecError) { picture = try PixelBuffer(layout, limits: Limits()) }

    public mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        picture?.withMutableRow(y, plane: plane) { row in
            for place in 0..<row.count { row[place] = samples[place] }
        }
    }

    /// Moves the picture out.
    /// - Throws: if the decoder has not begun.
    public consuming func take() throws(CodecError) -> PixelBuffer {
        guard let picture else { throw .damaged(reason: "nothing was decoded") }
        return picture
    }
}

extension ImageDecoder {
    /// Decodes a file into memory.
    public func picture(_ bytes: [UInt8], _ request: DecodeRequest = DecodeRequest()) throws(CodecError) -> PixelBuffer {
        var sink = DecodedPicture()
        try decode(bytes.span, request, into: &sink)
        return try sink.take()
    }
}
