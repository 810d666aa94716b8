internal import CPNG
internal import OnesheetCore

/// One PNG file being read by libpng, its errors turned into ours. The bytes stay where they are as long as it lives.
struct PNGReader: ~Copyable {
    private let reader: OpaquePointer
    let header: PNGHeader
    /// Whether damage behind the header is taken as far as rows can be read.
    let isLenient: Bool

    init(_ bytes: UnsafeBufferPointer<UInt8>, lenient: Bool) throws(CodecError) {
        guard let reader = cpng_reader_make(bytes.baseAddress, bytes.count, lenient) else { throw .outOfMemory }
        var header = cpng_header()
        let status = cpng_reader_header(reader, &header)
        guard status == CPNG_OK else {
            let error = Self.error(status, reader)
            cpng_reader_free(reader)
            throw error
        }
        self.reader = reader
        self.header = PNGHeader(header)
        isLenient = lenient
    }

    deinit { cpng_reader_free(reader) }

    /// Starts libpng on the rows; afterwards `readRow` may be called.
    func start() throws(CodecError) -> (rowBytes: Int, passes: Int) {
        var size = 0
        var passes: Int32 = 0
        try check(cpng_reader_start(reader, &size, &passes))
        return (size, Int(passes))
    }

    func readRow(_ row: UnsafeMutablePointer<UInt8>) throws(CodecError) { try check(cpng_reader_row(reader, row)) }

    /// Instead of `start`: fills `rows` with all rows, their filters before them. `false` if only libpng can tell what is in the file.
    func inflate(into rows: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        cpng_reader_inflate(reader, rows.baseAddress, rows.count) == CPNG_OK
    }

    /// Turns a row of palette indices into pixels; `pixels` has room for one byte more.
    func expand(_ indices: UnsafePointer<UInt8>, into pixels: UnsafeMutablePointer<UInt8>) {
        cpng_expand(reader, indices, header.width, pixels, Int32(header.channels))
    }

    private func check(_ status: cpng_status) throws(CodecError) {
        if status != CPNG_OK { throw Self.error(status, reader) }
    }

    private static func error(_ status: cpng_status, _ reader: OpaquePointer) -> CodecError {
        switch status {
        case CPNG_TRUNCATED: .truncated
        case CPNG_OUT_OF_MEMORY: .outOfMemory
        case CPNG_UNSUPPORTED: .unsupported(String(cString: cpng_reader_reason(reader)))
        default: .damaged(reason: String(cString: cpng_reader_reason(reader)))
        }
    }
}
