internal import OnesheetCore

/// Passes rows to a sink and converts indices to colours.
struct RowDelivery: ~Copyable {
    private let header: PNGHeader
    private let rowBytes: Int
    private var pixels: [UInt8]
    private var watch: DeadlineWatch

    init(_ header: PNGHeader, by deadline: Deadline) {
        self.header = header
        watch = DeadlineWatch(deadline)
        rowBytes = header.width * header.channels
        // The palette kernel writes one byte beyond the end.
        pixels = header.isPalette ? [UInt8](repeating: 0, count: rowBytes + 1) : []
    }

    /// Passes on row `y`, whose samples or indices start at `row`.
    mutating func deliver<Sink: RowSink & ~Copyable>(
        _ row: UnsafePointer<UInt8>, y: Int, of reader: borrowing PNGReader, into sink: inout Sink
    ) throws(CodecError) {
        try watch.row(samples: rowBytes)
        guard header.isPalette else {
            return try sink.row(Span(_unsafeStart: row, count: rowBytes), plane: 0, y: y)
        }
        try pixels.withUnsafeMutableBufferPointer { (pixels) throws(CodecError) in
            guard let start = pixels.baseAddress else { return }
            reader.expand(row, into: start)
            try sink.row(Span(_unsafeStart: UnsafePointer(start), count: rowBytes), plane: 0, y: y)
        }
    }

    /// Passes on empty rows for unreadable ones.
    mutating func deliverNothing<Sink: RowSink & ~Copyable>(_ rows: Range<Int>, into sink: inout Sink) throws(CodecError) {
        pixels = [UInt8](repeating: 0, count: rowBytes)
        for y in rows {
            try watch.row(samples: rowBytes)
            try sink.row(pixels.span, plane: 0, y: y)
        }
    }
}
