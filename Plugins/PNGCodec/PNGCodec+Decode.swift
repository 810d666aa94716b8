public import OnesheetCore

extension PNGCodec {
    /// Rows come as they are read, except from interlaced files, which are held whole.
    ///
    /// Where `request` accepts it, rows that cannot be read any more are black, or transparent where the picture has alpha.
    public func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(CodecError) in
            try PNGFile(bytes).checkSize(atMost: request.limits.pixels)
            let reader = try PNGReader(bytes, lenient: request.acceptsTruncated)
            if reader.header.isInterlaced {
                try InterlacedRows(reader, limits: request.limits).deliver(reader, into: &sink)
            } else if let rows = InflatedRows.inflating(reader, limit: inflateAtOnce) {
                try rows.deliver(reader, into: &sink)
            } else {
                try StreamedRows(reader).deliver(reader, into: &sink)
            }
        }
    }
}
