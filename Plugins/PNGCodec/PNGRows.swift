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

    /// Counts a row that has been passed on before.
    mutating func skip() throws(CodecError) { try watch.row(samples: rowBytes) }

    /// Passes on empty rows for unreadable ones.
    mutating func deliverNothing<Sink: RowSink & ~Copyable>(_ rows: Range<Int>, into sink: inout Sink) throws(CodecError) {
        pixels = [UInt8](repeating: 0, count: rowBytes)
        for y in rows {
            try watch.row(samples: rowBytes)
            try sink.row(pixels.span, plane: 0, y: y)
        }
    }
}

/// Reads rows one at a time: fast as long as the file is intact, otherwise with libpng.
struct StreamedRows {
    /// Whether to try the fast way.
    let isFast: Bool

    func deliver<Sink: RowSink & ~Copyable>(
        _ reader: borrowing PNGReader, by deadline: Deadline, into sink: inout Sink
    ) throws(CodecError) {
        var delivery = RowDelivery(reader.header, by: deadline)
        let delivered = isFast ? try deliverFast(reader, by: deadline, to: &delivery, into: &sink) : 0
        guard delivered < reader.header.height else { return }
        try deliverRest(reader, after: delivered, to: &delivery, into: &sink)
    }

    /// Passes on rows up to the first that only libpng can read. Returns their number.
    private func deliverFast<Sink: RowSink & ~Copyable>(
        _ reader: borrowing PNGReader, by deadline: Deadline, to delivery: inout RowDelivery, into sink: inout Sink
    ) throws(CodecError) -> Int {
        guard reader.startFast() else { return 0 }
        for y in 0..<reader.header.height {
            guard let row = try reader.nextRow(by: deadline) else { return y }
            if y == 0 { try sink.begin(reader.header.layout) }
            try delivery.deliver(row, y: y, of: reader, into: &sink)
        }
        return reader.header.height
    }

    /// Reads all rows with libpng and passes on those from `delivered` on.
    private func deliverRest<Sink: RowSink & ~Copyable>(
        _ reader: borrowing PNGReader, after delivered: Int, to delivery: inout RowDelivery, into sink: inout Sink
    ) throws(CodecError) {
        let header = reader.header
        let row = UnsafeMutablePointer<UInt8>.allocate(capacity: try reader.start().rowBytes)
        defer { row.deallocate() }
        for y in 0..<header.height {
            do throws(CodecError) {
                try reader.readRow(row)
            } catch {
                guard reader.isLenient, y > 0 else { throw error }
                return try delivery.deliverNothing(max(y, delivered)..<header.height, into: &sink)
            }
            guard y >= delivered else {
                try delivery.skip()
                continue
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
