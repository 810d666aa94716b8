import CZlib
import CZstandard
import NIOCore
import OnesheetHTTP

/// A coding that compresses documents. Equal documents become equal bytes, because neither format has a time.
enum DocumentCoding: String {
    /// RFC 8878. Its window is never larger than the document, so it keeps the limit of RFC 9659.
    case zstd
    /// RFC 1952.
    case gzip

    /// The shortest document to compress, in bytes. A shorter one fits into one packet anyway.
    private static let least = 512
    /// The longest document to compress, in bytes. Compressing this takes up to 20 ms on the cooperative pool. A list of titles has
    /// a tenth of it.
    private static let most = 1 << 20
    /// Saves nearly as much as the highest level, in a third of the time.
    private static let gzipLevel: CInt = 5
    /// Saves more than gzip's level, in less time.
    private static let zstdLevel: CInt = 5

    /// The coding that a client likes best: zstd if it likes gzip as much.
    init?(for accepted: ContentCodings) {
        let (zstd, gzip) = (accepted.quality(of: Self.zstd.rawValue), accepted.quality(of: Self.gzip.rawValue))
        guard max(zstd, gzip) > 0 else { return nil }
        self = zstd >= gzip ? .zstd : .gzip
    }

    /// - Returns: `nil` if `bytes` should be sent uncompressed.
    func packed(_ bytes: ByteBuffer) -> ByteBuffer? {
        guard (Self.least...Self.most).contains(bytes.readableBytes) else { return nil }
        let input = Array(bytes.readableBytesView)
        let output =
            switch self {
            case .zstd: Self.zstd(input)
            case .gzip: Self.gzip(input)
            }
        guard let output, output.count < input.count else { return nil }
        return ByteBuffer(bytes: output)
    }

    private static func zstd(_ input: [UInt8]) -> ArraySlice<UInt8>? {
        var output = [UInt8](repeating: 0, count: ZSTD_compressBound(input.count))
        let count = ZSTD_compress(&output, output.count, input, input.count, zstdLevel)
        return ZSTD_isError(count) == 0 ? output[..<count] : nil
    }

    private static func gzip(_ input: [UInt8]) -> ArraySlice<UInt8>? {
        var stream = z_stream()
        guard czlib_gzip_begin(&stream, gzipLevel) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = input
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let status = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                return deflate(&stream, Z_FINISH)
            }
        }
        return status == Z_STREAM_END ? output[..<(output.count - Int(stream.avail_out))] : nil
    }
}
