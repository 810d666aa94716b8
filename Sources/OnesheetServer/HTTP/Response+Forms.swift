import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import NIOCore
import NIOFoundationEssentialsCompat

extension Response {
    /// A JSON document, as `ByteBuffer.init(json:)` makes it.
    /// - Throws: the encoder's error. The client receives an internal error.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, type: String = "application/json"
    ) throws -> Response {
        .written(try ByteBuffer(json: value), status: status, type: type)
    }

    /// A document that is already encoded.
    static func written(
        _ document: ByteBuffer, status: HTTPResponse.Status = .ok, type: String = "application/json"
    ) -> Response {
        body(document, status: status, type: type)
    }

    /// A plain text or HTML document.
    static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        body(ByteBuffer(string: text), status: .ok, type: type)
    }

    /// A plain text that is true at this moment only. Caches must not store it.
    static func state(_ text: String) -> Response {
        var response = Response.text(text)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// A response whose status, 204 or 304, allows no content.
    static func withoutContent(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Response {
        var response = Response(status: status, headers: fields)
        // Hummingbird adds the length of the empty body. A 204 must not have one, and that of a 304 would be the length of the 200
        // response (RFC 9110 §8.6).
        response.headers[.contentLength] = nil
        return response
    }

    /// The same response to `HEAD`.
    var withoutBody: Response {
        // Hummingbird would add a length again; see `withoutContent(_:_:)`.
        status == .noContent || status == .notModified ? self : createHeadResponse()
    }

    private static func body(_ bytes: ByteBuffer, status: HTTPResponse.Status, type: String) -> Response {
        Response(
            status: status, headers: [.contentType: type, .xContentTypeOptions: "nosniff"], body: ResponseBody(byteBuffer: bytes))
    }
}

extension ByteBuffer {
    /// A JSON document (RFC 8259). Keys are sorted, so equal values give equal bytes.
    /// - Throws: the encoder's error for values that JSON cannot represent, such as infinity.
    init(json value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        self.init(data: try encoder.encode(value))
    }
}
