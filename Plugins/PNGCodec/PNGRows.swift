internal import CPNG
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

/// Reads rows with libpng, one at a time.
struct StreamedRows {
    private let rowBytes: Int

    init(_ reader: borrowing PNGReader) throws(CodecError) {
        rowBytes = try reader.start().rowBytes
    }

    func deliver<Sink: RowSink & ~Copyable>(
        _ reader: borrowing PNGReader, by deadline: Deadline, into sink: inout Sink
    ) throws(CodecError) {
        let header = reader.header
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: rowBytes)
        defer { row.deallocate() }
        var delivery = RowDelivery(header, by: deadline)
        for y in 0..<header.height {
            do throws(CodecError) {
                try reader.readRow(row)
            } catch {
                guard reader.isLenient, y > 0 else { throw error }
                return try delivery.deliverNothing(y..<header.height, into: &sink)
            }
            // Begins only now: a file without a single row is not a picture, even if truncation is accepted.
            if y == 0 { try sink.begin(header.layout) }
            try delivery.deliver(row, y: y, of: reader, into: &sink)
        }
    }
}

/// The rows of an interlaced picture (Adam7): seven passes with libpng over the whole picture in memory.
struct InterlacedRows: ~Copyable {
    private let picture: PixelBuffer

    init(_ reader: borrowing PNGReader, limits: Limits, by deadline: Deadline) throws(CodecError) {
        let header = reader.header
        // Palette pictures are stored as indices.
        let held = header.isPalette ? PixelLayout(width: header.width, height: header.height, model: .gray) : header.layout
        let (rowBytes, passes) = try reader.start()
        precondition(rowBytes == held.planes[0].width * held.planes[0].channels, "libpng delivers what it was asked for")
        var picture = try PixelBuffer(held, limits: limits)
        let stride = picture.stride(of: 0)
        var watch = DeadlineWatch(deadline)
        try picture.withMutablePlane(0) { (start) throws(CodecError) in
            for pass in 0..<passes {
                for y in 0..<header.height {
                    try watch.row(samples: rowBytes)
                    do throws(CodecError) {
                        try reader.readRow(start + y * stride)
                    } catch {
                        guard reader.isLenient, pass > 0 || y > 0 else { throw error }
                        return
                    }
                }
            }
        }
        self.picture = picture
    }

    func deliver<Sink: RowSink & ~Copyable>(
        _ reader: borrowing PNGReader, by deadline: Deadline, into sink: inout Sink
    ) throws(CodecError) {
        var delivery = RowDelivery(reader.header, by: deadline)
        let stride = picture.stride(of: 0)
        try sink.begin(reader.header.layout)
        try picture.withPlane(0) { (start) throws(CodecError) in
            for y in 0..<reader.header.height {
                try delivery.deliver(start + y * stride, y: y, of: reader, into: &sink)
            }
        }
    }
}

/// All rows of a simple picture, inflated at once and still filtered.
struct InflatedRows: ~Copyable {
    private let rows: UnsafeMutableBufferPointer<UInt8>
    /// Bytes of a row with its filter byte.
    private let stride: Int

    private init(rowBytes: Int, count: Int) {
        stride = rowBytes + 1
        // Kernels read one byte beyond the end.
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: stride * count + 1)
        rows = UnsafeMutableBufferPointer(rebasing: memory.dropLast())
    }

    /// `nil` if the picture is not simple, would exceed `limit` bytes, or is damaged.
    static func inflating(_ reader: borrowing PNGReader, limit: Int) -> InflatedRows? {
        let header = reader.header
        guard header.isPlain, (header.plainRowBytes + 1) * header.height <= limit else { return nil }
        let made = InflatedRows(rowBytes: header.plainRowBytes, count: header.height)
        let filters = Swift.stride(from: 0, to: made.rows.count, by: made.stride)
        guard reader.inflate(into: made.rows), filters.allSatisfy({ [rows = made.rows] in rows[$0] <= 4 }) else { return nil }
        return made
    }

    deinit { rows.baseAddress?.deallocate() }

    func deliver<Sink: RowSink & ~Copyable>(
        _ reader: borrowing PNGReader, by deadline: Deadline, into sink: inout Sink
    ) throws(CodecError) {
        let header = reader.header
        guard let start = rows.baseAddress else { return }
        var delivery = RowDelivery(header, by: deadline)
        try sink.begin(header.layout)
        for y in 0..<header.height {
            let row = start + y * stride + 1
            let above = y > 0 ? UnsafePointer(row - stride) : nil
            cpng_unfilter(Int32(row[-1]), row, above, header.plainRowBytes, Int32(header.plainPixelBytes))
            try delivery.deliver(row, y: y, of: reader, into: &sink)
        }
    }
}
