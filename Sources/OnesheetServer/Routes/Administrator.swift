import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import OnesheetCore
import OnesheetCrypto

/// Authenticates the administrator's requests.
struct Administrator: Sendable {
    /// `nil` or empty if administration over HTTP is off.
    let token: String?
    /// Whether everyone may ask for lists, searches, titles and candidates, which cost calls to services.
    var sharesLists = true

    /// Whether there is administration over HTTP.
    var isOn: Bool { !(token ?? "").isEmpty }

    /// - Throws: `RequestError.unauthorized` unless the request carries the administrator's bearer token (RFC 6750 §2.1).
    func check(_ context: RequestContext) throws(RequestError) {
        guard isOn, let token, let given = Self.token(of: context) else { throw .unauthorized }
        // Digests have equal lengths and compare in constant time.
        guard SHA256.hash(given.utf8) == SHA256.hash(token.utf8) else { throw .unauthorized }
        context.client.exempt()
    }

    /// Checks a request that asks a source, but for an image.
    /// - Throws: `RequestError.unauthorized`, as `check`, if only the administrator may ask.
    func checkLists(_ context: RequestContext) throws(RequestError) {
        if !sharesLists { try check(context) }
    }

    /// Whether the request is the administrator's, for routes that answer others too.
    /// - Throws: `RequestError.unauthorized` if the request has another token.
    func isAsking(_ context: RequestContext) throws(RequestError) -> Bool {
        // Other schemes are for a proxy.
        guard Self.token(of: context) != nil else { return false }
        try check(context)
        return true
    }

    /// The request's bearer token. The scheme's name has no case (RFC 9110 §11.1).
    private static func token(of context: RequestContext) -> Substring? {
        guard let header = context.headers[.authorization], let (scheme, token) = header.cut(at: " "),
            scheme.lowercasedASCII() == "bearer"
        else { return nil }
        return token
    }
}
