import CZlib
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import Synchronization

/// Compresses documents with gzip (RFC 1952). Equal documents become equal bytes, because the format's time is 0.
///
/// The last ones are kept, so a document that many clients ask for is compressed once.
final class DocumentCoding: Sendable {
    static let name = "gzip"

    /// The shortest document to compress, in bytes. A shorter one fits into one packet anyway.
    private static let least = 512
    /// The longest document to compress, in bytes. Compressing this takes up to 20 ms on the cooperative pool. A list of titles has
    /// a tenth of it.
    private static let most = 1 << 20
    /// Saves nearly as much as the highest level, in a third of the time.
    private static let level: CInt = 5

    /// Compressed documents by the tag of the document; `nil` if it is sent as it is.
    private let kept: Mutex<S3FIFO<ByteBuffer?>>

    /// - Parameter limit: bytes of the compressed documents that are kept.
    init(keeping limit: Int) { kept = Mutex(S3FIFO(weight: limit, count: 1024)) }

    /// Whether a client accepts compressed documents.
    static func isAccepted(_ codings: ContentCodings) -> Bool { codings.quality(of: name) > 0 }

    /// - Parameter tag: names `bytes`.
    /// - Returns: `nil` if `bytes` should be sent uncompressed.
    func packed(_ bytes: ByteBuffer, tag: String) -> ByteBuffer? {
        guard (Self.least...Self.most).contains(bytes.readableBytes) else { return nil }
        let key = CacheKey(.metadata, tag)
        if let known = kept.withLock({ $0.value(for: key) }) { return known }
        let output = Self.gzip(Array(bytes.readableBytesView))
        let packed = output.flatMap { $0.count < bytes.readableBytes ? ByteBuffer(bytes: $0) : nil }
        let size = (packed?.readableBytes ?? 0) + tag.utf8.count
        kept.withLock { if size <= $0.weightLimit / 2 { $0.insert(packed, for: key, weight: size) } }
        return packed
    }

    private static func gzip(_ input: [UInt8]) -> ArraySlice<UInt8>? {
        var stream = z_stream()
        guard czlib_gzip_begin(&stream, level) == Z_OK else { return nil }
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
