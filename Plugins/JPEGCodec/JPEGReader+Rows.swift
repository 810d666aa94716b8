import CJPEG
import OnesheetCore

extension JPEGReader {
    /// Passes the rows of one step to the sink.
    /// - Parameter invertingInks: files by Adobe store 255 minus ink.
    func deliver<Sink: RowSink & ~Copyable>(
        _ rows: inout cjpeg_rows, _ layout: PixelLayout, invertingInks: Bool, into sink: inout Sink
    ) throws(CodecError) {
        let counts = [rows.count.0, rows.count.1, rows.count.2]
        let firsts = [rows.first.0, rows.first.1, rows.first.2]
        for (plane, shape) in layout.planes.enumerated() {
            for index in 0..<Int(counts[plane]) {
                guard let start = Self.row(index, of: plane, in: &rows) else { throw .damaged(reason: "a row is missing") }
                let samples = UnsafeMutableBufferPointer(start: start, count: shape.width * shape.channels)
                if invertingInks {
                    for sample in samples.indices { samples[sample] = 255 - samples[sample] }
                }
                try sink.row(
                    Span(_unsafeElements: UnsafeBufferPointer(samples)), plane: plane, y: Int(firsts[plane]) + index)
            }
        }
    }

    /// Swift imports a C array of arrays as a tuple, but its memory is an array.
    private static func row(_ index: Int, of plane: Int, in rows: inout cjpeg_rows) -> UnsafeMutablePointer<UInt8>? {
        withUnsafeBytes(of: &rows.rows) { bytes in
            bytes.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)[plane * Int(CJPEG_ROWS) + index]
        }
    }
}

extension Deadline {
    /// Calls `body` with this deadline in the form for C, which is valid during the call.
    func withWatch<Result>(_ body: (cjpeg_watch) throws(CodecError) -> Result) throws(CodecError) -> Result {
        try withUnsafePointer(to: self) { deadline throws(CodecError) in
            // C passes the pointer back and writes nothing.
            let context = UnsafeMutableRawPointer(mutating: deadline)
            return try body(
                cjpeg_watch(
                    may_go_on: { context in context.map { !$0.assumingMemoryBound(to: Deadline.self).pointee.hasPassed } ?? true },
                    context: context))
        }
    }
}

extension CodecError {
    init(_ status: cjpeg_status, _ message: String, scans: Int) {
        self =
            switch status {
            case CJPEG_TRUNCATED: .truncated
            case CJPEG_UNSUPPORTED: .unsupported(message)
            case CJPEG_TOO_MANY_SCANS: .tooManyScans(limit: scans)
            case CJPEG_OUT_OF_MEMORY: .outOfMemory
            case CJPEG_TIMED_OUT: .timedOut
            default: .damaged(reason: message)
            }
    }
}
