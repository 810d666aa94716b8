#if TIFF
    internal import OnesheetCore

    /// Reads a file's rows, or its rows of tiles, and passes them to a sink.
    struct TIFFRows: ~Copyable {
        private let form: TIFFForm
        private var pixels: TIFFPixels
        private var watch: DeadlineWatch
        /// Some rows, one byte a sample.
        private var band: [UInt8]

        init(_ form: TIFFForm, by deadline: Deadline) {
            self.form = form
            pixels = TIFFPixels(form)
            watch = DeadlineWatch(deadline)
            band = [UInt8](repeating: 0, count: form.bandHeight * form.width * form.samples)
        }

        consuming func deliver<Sink: RowSink & ~Copyable>(
            _ file: borrowing TIFFFile, isLenient: Bool, into sink: inout Sink
        ) throws(CodecError) {
            let planes = form.isSeparate ? form.samples : 1
            let samples = form.samples / planes
            // The size that libtiff writes, so that it always fits.
            let size = form.tile == nil ? file.rowBytes : file.tileBytes
            let row = form.tile.map { $0.width } ?? form.width
            let rowBytes = form.tile == nil ? file.rowBytes : file.tileRowBytes
            guard rowBytes == (row * samples * form.bits + 7) / 8, size == rowBytes * (form.tile?.height ?? 1) else {
                throw .damaged(reason: "rows have \(rowBytes) bytes")
            }
            let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
            defer { memory.deallocate() }
            for y in stride(from: 0, to: form.height, by: form.bandHeight) {
                do throws(CodecError) {
                    if form.tile == nil {
                        try readRows(from: y, file, through: memory, isLenient: isLenient)
                    } else {
                        try readTiles(at: y, file, through: memory, isLenient: isLenient)
                    }
                } catch {
                    guard isLenient, y > 0, error != .timedOut else { throw error }
                    return try deliverNothing(y..<form.height, into: &sink)
                }
                // Begins only now: a file without a single row is not a picture, even if truncation is accepted.
                if y == 0 { try sink.begin(form.layout) }
                for row in 0..<min(form.bandHeight, form.height - y) {
                    try watch.row(samples: form.width * form.samples)
                    pixels.convert(band, from: row * form.width * form.samples)
                    try sink.row(pixels.row.span, plane: 0, y: y + row)
                }
            }
        }

        /// Fills the band from strips: one row, or the rows of a strip of each plane.
        private mutating func readRows(
            from start: Int, _ file: borrowing TIFFFile, through memory: UnsafeMutableRawPointer, isLenient: Bool
        ) throws(CodecError) {
            let planes = form.isSeparate ? form.samples : 1
            for plane in 0..<planes {
                for y in start..<min(start + form.bandHeight, form.height) {
                    try watch.row(samples: form.width)
                    try file.readRow(y, plane: plane, to: memory, isLenient: isLenient)
                    unpack(memory, pixels: form.width, plane: plane, to: (y - start, 0))
                }
            }
        }

        /// Fills the band from a row of tiles of each plane.
        private mutating func readTiles(
            at y: Int, _ file: borrowing TIFFFile, through memory: UnsafeMutableRawPointer, isLenient: Bool
        ) throws(CodecError) {
            guard let tile = form.tile else { return }
            for plane in 0..<(form.isSeparate ? form.samples : 1) {
                for x in stride(from: 0, to: form.width, by: tile.width) {
                    try watch.row(samples: tile.width * tile.height)
                    try file.readTile(x: x, y: y, plane: plane, to: memory, isLenient: isLenient)
                    for row in 0..<min(tile.height, form.height - y) {
                        let width = min(tile.width, form.width - x)
                        unpack(memory + row * file.tileRowBytes, pixels: width, plane: plane, to: (row, x))
                    }
                }
            }
        }

        /// Stores samples of 1 to 16 bits in the band, one byte each.
        private mutating func unpack(
            _ memory: UnsafeMutableRawPointer, pixels count: Int, plane: Int, to place: (row: Int, x: Int)
        ) {
            let samples = form.samples
            let start = (place.row * form.width + place.x) * samples + plane
            let step = form.isSeparate ? samples : 1
            let bits = form.bits
            let isIndex = form.colorSamples < form.model.channels
            // From 1, 2 or 4 bits to 8.
            let scale: UInt8 = isIndex || bits >= 8 ? 1 : UInt8(255 / (1 << bits - 1))
            let mask = bits < 8 ? UInt8((1 << bits) - 1) : 255
            let values = form.isSeparate ? count : count * samples
            band.withUnsafeMutableBufferPointer { band in
                for index in 0..<values {
                    let value: UInt8
                    switch bits {
                    case 16:
                        let wide = Int(memory.load(fromByteOffset: index * 2, as: UInt16.self))
                        value = UInt8((wide * 255 + 32_767) / 65_535)
                    case 8: value = memory.load(fromByteOffset: index, as: UInt8.self)
                    default:
                        let byte = memory.load(fromByteOffset: index * bits / 8, as: UInt8.self)
                        let shift = 8 - bits - index * bits % 8
                        value = ((byte >> shift) & mask) * scale
                    }
                    band[start + index * step] = value
                }
            }
        }

        /// Passes on empty rows for unreadable ones.
        private mutating func deliverNothing<Sink: RowSink & ~Copyable>(
            _ rows: Range<Int>, into sink: inout Sink
        ) throws(CodecError) {
            let empty = [UInt8](repeating: 0, count: pixels.row.count)
            for y in rows {
                try watch.row(samples: empty.count)
                try sink.row(empty.span, plane: 0, y: y)
            }
        }
    }
#endif
