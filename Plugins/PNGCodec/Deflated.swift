internal import CPNG
internal import OnesheetCore

/// A zlib stream (RFC 1950) in memory that C has allocated.
final class Deflated {
    private let memory: UnsafeMutablePointer<UInt8>
    let count: Int

    /// Takes ownership of the memory that a C function returns through two pointers.
    fileprivate init(
        _ make: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>) -> cpng_status
    ) throws(CodecError) {
        var out: UnsafeMutablePointer<UInt8>?
        var size = 0
        let status = make(&out, &size)
        guard status == CPNG_OK, let out else { throw status == CPNG_TIMED_OUT ? .timedOut : .outOfMemory }
        memory = out
        count = size
    }

    convenience init(_ bytes: [UInt8], level: Int32) throws(CodecError) {
        try self.init { out, size in cpng_deflate(bytes, bytes.count, level, out, size) }
    }

    deinit { cpng_free(memory) }

    /// Calls `body` with the stream, which is valid during the call.
    func withBytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        withExtendedLifetime(self) { body(UnsafeBufferPointer(start: memory, count: count)) }
    }
}

/// The layout of the pixels to write.
struct PackedPixels {
    let width: Int
    let height: Int
    let stride: Int
    let channels: Int

    /// Converts, filters and compresses the pixels at `rows`.
    func compress(
        _ rows: UnsafePointer<UInt8>, survey: inout cpng_survey, as form: PNGForm, filtering: cpng_filtering, level: Int32,
        by deadline: Deadline
    ) throws(CodecError) -> Deflated {
        var wanted = cpng_form(
            color_type: Int32(form.colorType), depth: Int32(form.depth), filtering: filtering, level: level)
        return try Deflated { out, size in
            deadline.withWatch { watch in
                cpng_compress(rows, stride, width, height, Int32(channels), &survey, &wanted, watch, out, size)
            }
        }
    }
}

extension Deadline {
    /// Calls `body` with this deadline for C, valid during the call.
    func withWatch(_ body: (cpng_watch) -> cpng_status) -> cpng_status {
        withUnsafePointer(to: self) { deadline in
            // C passes the pointer back and writes nothing.
            body(
                cpng_watch(
                    may_go_on: { context in
                        context.map { !$0.assumingMemoryBound(to: Deadline.self).pointee.hasPassed } ?? true
                    },
                    context: UnsafeMutableRawPointer(mutating: deadline)))
        }
    }
}
