import CZlib
import NIOCore

/// Compresses documents with gzip (RFC 1952). Equal documents become equal bytes, because the header has no time.
enum Gzip {
    /// The shortest document to compress, in bytes. A shorter one fits into one packet anyway.
    private static let least = 512
    /// The longest document to compress, in bytes. Compressing this takes up to 20 ms on the cooperative pool. A list of titles has
    /// a tenth of it.
    private static let most = 1 << 20
    /// Saves nearly as much as the highest level, in a third of the time.
    private static let level: CInt = 5

    /// - Returns: `nil` if `bytes` should be sent uncompressed.
    static func packed(_ bytes: ByteBuffer) -> ByteBuffer? {
        guard (least...most).contains(bytes.readableBytes) else { return nil }
        var stream = z_stream()
        guard czlib_gzip_begin(&stream, level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = Array(bytes.readableBytesView)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let status = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                return deflate(&stream, Z_FINISH)
            }
        }
        let count = output.count - Int(stream.avail_out)
        return status == Z_STREAM_END && count < bytes.readableBytes ? ByteBuffer(bytes: output[..<count]) : nil
    }
}
