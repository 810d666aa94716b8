import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetCore
import OnesheetCrypto
import OnesheetHTTP

/// The response with a document: adds a validator, compresses the body if the client accepts gzip, and answers `If-Match` and
/// `If-None-Match`. A document has no modification date, so conditions with dates count for nothing.
/// Images need none of this, not even drawings: they have their own validators, and must be the same as from the fast path.
struct DocumentResponse {
    private let response: Response
    private let bytes: ByteBuffer

    /// - Returns: `nil` if `response` is not a document or has a validator, or if caches must not store it.
    init?(_ response: Response) async throws {
        guard response.status == .ok, response.headers[.cacheControl] != "no-store", response.headers[.contentEncoding] == nil,
            response.headers[.eTag] == nil, let type = response.headers[.contentType],
            Self.types.contains(where: { type.starts(withBytesOf: $0) }), response.body.contentLength != nil
        else { return nil }
        let collector = BodyBytes()
        try await response.body.write(collector)
        self.response = response
        bytes = collector.bytes
    }

    private static let types = [
        "text/html", "text/plain", "text/css", "text/javascript", "application/json", "application/ld+json", "image/svg+xml",
    ]

    /// - Parameters:
    ///   - fields: the request's header fields.
    ///   - coding: compresses the document.
    func answer(to fields: HTTPFields, _ coding: DocumentCoding) -> Response {
        var headers = response.headers
        headers[.vary] = headers[.vary].map { "\($0), Accept-Encoding" } ?? "Accept-Encoding"
        let digest = bytes.withUnsafeReadableBytes { SHA256.hash($0) }.prefix(16).hexadecimal
        let isPackable = DocumentCoding.isAccepted(ContentCodings(fields[.acceptEncoding]))
        let packed = isPackable ? coding.packed(bytes, tag: digest) : nil
        // The packed bytes have a validator of their own (RFC 9110 §8.8.3.3).
        let validator = packed == nil ? digest : "\(digest)-\(DocumentCoding.name)"
        headers[.eTag] = EntityTags.field(validator)
        switch Preconditions(fields: fields, validator: validator, modified: nil).outcome {
        case .failed: return Problem.changed.response()
        case .notModified:
            headers[.contentType] = nil
            return .withoutContent(.notModified, headers)
        case .met: break
        }
        if packed != nil { headers[.contentEncoding] = DocumentCoding.name }
        headers[.contentLength] = nil
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: packed ?? bytes))
    }
}

/// Collects a body that is already in memory.
private final class BodyBytes: ResponseBodyWriter {
    private(set) var bytes = ByteBuffer()

    func write(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        bytes.writeBuffer(&buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
