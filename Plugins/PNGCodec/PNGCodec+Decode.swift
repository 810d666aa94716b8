public import OnesheetCore

extension PNGCodec {
    /// Delivers rows as they are read, except for interlaced files, which are kept in memory.
    ///
    /// If `request` accepts truncated pictures, missing rows are black, or transparent if the picture has alpha.
    public func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
            try PNGFile(bytes).checkSize(atMost: request.limits.pixels)
            let reader = try PNGReader(bytes, lenient: request.acceptsTruncated)
            if reader.header.isInterlaced {
                try InterlacedRows(reader, limits: request.limits, by: request.deadline)
                    .deliver(reader, by: request.deadline, into: &sink)
            } else if let rows = InflatedRows.inflating(reader, limit: inflateAtOnce) {
                try rows.deliver(reader, by: request.deadline, into: &sink)
            } else {
                try StreamedRows(reader).deliver(reader, by: request.deadline, into: &sink)
            }
        }
    }

    /// Interlaced pictures are in memory as a whole. Others are too, inflated and as in the file, if both are small enough;
    /// otherwise they are decoded row by row.
    public func memoryToDecode(_ header: ImageHeader) -> Int {
        let layout = PixelLayout(width: header.width, height: header.height, model: header.model, hasAlpha: header.hasAlpha)
        // libpng's rows have 16 bits, and there are several of them.
        let row = layout.width * layout.planes[0].channels
        let rows = row * 2 * 8 + 1 << 18
        if header.isProgressive { return PixelBuffer.bytes(for: layout) + rows }
        return 2 * min(inflateAtOnce, (row + 1) * layout.height) + rows
    }
}
