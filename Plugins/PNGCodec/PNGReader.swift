internal import CPNG
internal import OnesheetCore

/// Reads one PNG file with libpng and converts its errors. The bytes stay in place during its lifetime.
struct PNGReader: ~Copyable {
    private let reader: OpaquePointer
    let header: PNGHeader
    /// Whether damage after the header is tolerated as far as rows can be read.
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

    /// Prepares libpng for the rows; `readRow` may be called afterwards.
    /// - Returns: bytes of a row, one for each index of a palette or channel of a pixel, and the number of passes.
    func start() throws(CodecError) -> (rowBytes: Int, passes: Int) {
        var size = 0
        var passes: Int32 = 0
        try check(cpng_reader_start(reader, &size, &passes))
        guard size == header.width * (header.isPalette ? 1 : header.channels) else {
            throw .damaged(reason: "the rows have other channels than the header")
        }
        return (size, Int(passes))
    }

    func readRow(_ row: UnsafeMutablePointer<UInt8>) throws(CodecError) { try check(cpng_reader_row(reader, row)) }

    /// An alternative to `start`: whether `nextRow` may be called. `false` if only libpng can read the file.
    func startFast() -> Bool { cpng_reader_start_fast(reader) == CPNG_OK }

    /// The next row, like that of `readRow`, valid until the next call. `nil` if only libpng can read it and those after it; it starts with
    /// the first row again.
    func nextRow(by deadline: Deadline) throws(CodecError) -> UnsafePointer<UInt8>? {
        var row: UnsafePointer<UInt8>?
        let status = deadline.withWatch { cpng_reader_next_row(reader, $0, &row) }
        if status == CPNG_DECLINED { return nil }
        try check(status)
        return row
    }

    /// Converts a row of palette indices into pixels; `pixels` has room for one extra byte.
    func expand(_ indices: UnsafePointer<UInt8>, into pixels: UnsafeMutablePointer<UInt8>) {
        cpng_expand(reader, indices, header.width, pixels, Int32(header.channels))
    }

    private func check(_ status: cpng_status) throws(CodecError) {
        if status != CPNG_OK { throw Self.error(status, reader) }
    }

    private static func error(_ status: cpng_status, _ reader: OpaquePointer) -> CodecError {
        switch status {
        case CPNG_TRUNCATED: .truncated
        case CPNG_TIMED_OUT: .timedOut
        case CPNG_OUT_OF_MEMORY: .outOfMemory
        case CPNG_UNSUPPORTED: .unsupported(String(cString: cpng_reader_reason(reader)))
        default: .damaged(reason: String(cString: cpng_reader_reason(reader)))
        }
    }
}
