internal import CPNG
internal import OnesheetCore

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
