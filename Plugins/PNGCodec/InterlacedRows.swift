internal import OnesheetCore

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
