internal import OnesheetCore

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
