import CZlib
import NIOCore

/// Packs documents (RFC 1952). Equal bytes are packed into equal bytes: the header tells no time.
enum Gzip {
    /// Packing less saves no packet.
    private static let least = 512
    /// Packing more would hold a thread for long. A list of titles has a hundredth of it.
    private static let most = 8 << 20
    /// Nearly what the best level saves, in a third of its time.
    private static let level: CInt = 5

    /// - Returns: `nil` if `bytes` are better sent as they are.
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
