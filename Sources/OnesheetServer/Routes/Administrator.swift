import Crypto
import FoundationEssentials
import Hummingbird
import HTTPTypes
import OnesheetCore

/// Lets the administrator's requests pass.
struct Administrator: Sendable {
    /// `nil` if there is no administrator.
    let token: String?

    /// - Throws: `RequestError.unauthorized` unless the request carries the administrator's bearer token (RFC 6750 §2.1).
    func check(_ request: Request) throws(RequestError) {
        guard let token, !token.isEmpty, let header = request.headers[.authorization], header.starts(withBytesOf: "Bearer ")
        else { throw .unauthorized }
        // Digests have one length and are compared in constant time.
        guard SHA256.hash(data: Data(header.utf8.dropFirst(7))) == SHA256.hash(data: Data(token.utf8)) else { throw .unauthorized }
        ClientRequest.current?.free()
    }
}
