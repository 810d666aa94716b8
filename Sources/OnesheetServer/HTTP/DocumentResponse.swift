import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetCore
import OnesheetCrypto
import OnesheetHTTP

/// A response with a document, which gets a validator, and is compressed if the client accepts gzip. `If-Match` and `If-None-Match` are
/// answered. A document has no modification date, so conditions with dates count for nothing.
/// Images need none of this, not even drawings: they have their own validators, and must be the same as from the fast path.
struct DocumentResponse {
    private let headers: HTTPFields
    private let bytes: ByteBuffer
    private let digest: String

    /// - Returns: `nil` if `response` is not a document or has a validator, or if caches must not store it.
    init?(_ response: Response) async throws {
        guard response.status == .ok, response.headers[.cacheControl] != "no-store", response.headers[.contentEncoding] == nil,
            response.headers[.eTag] == nil, let type = response.headers[.contentType],
            Self.types.contains(where: { type.starts(withBytesOf: $0) }), response.body.contentLength != nil
        else { return nil }
        let collector = BodyBytes()
        try await response.body.write(collector)
        headers = response.headers
        bytes = collector.bytes
        digest = bytes.withUnsafeReadableBytes { SHA256.hash($0) }.prefix(16).hexadecimal
    }

    private static let types = [
        "text/html", "text/plain", "text/css", "text/javascript", "application/json", "application/ld+json", "image/svg+xml",
    ]

    /// The document as it is sent to clients that accept the codings in `accepted`.
    /// - Parameter coding: compresses the document.
    func encoded(for accepted: ContentCodings, _ coding: DocumentCoding) -> EncodedDocument {
        var headers = headers
        headers[.vary] = headers[.vary].map { "\($0), Accept-Encoding" } ?? "Accept-Encoding"
        headers[.contentLength] = nil
        let packed = DocumentCoding.isAccepted(accepted) ? coding.packed(bytes, tag: digest) : nil
        if packed != nil { headers[.contentEncoding] = DocumentCoding.name }
        // The packed bytes have a validator of their own (RFC 9110 §8.8.3.3).
        let validator = packed == nil ? digest : "\(digest)-\(DocumentCoding.name)"
        headers[.eTag] = EntityTags.field(validator)
        return EncodedDocument(headers: headers, bytes: packed ?? bytes, validator: validator)
    }
}

/// A document with its header fields, in one content coding.
struct EncodedDocument: Sendable {
    let headers: HTTPFields
    let bytes: ByteBuffer
    let validator: String

    /// The response with the document.
    var full: Response { Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes)) }

    /// The response to a client that has the document.
    var notModified: Response {
        var headers = headers
        (headers[.contentType], headers[.contentEncoding]) = (nil, nil)
        return .withoutContent(.notModified, headers)
    }

    /// The response to a request with these header fields.
    func answer(to fields: HTTPFields) -> Response {
        switch Preconditions(fields: fields, validator: validator, modified: nil).outcome {
        case .failed: Problem.changed.response()
        case .notModified: notModified
        case .met: full
        }
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
