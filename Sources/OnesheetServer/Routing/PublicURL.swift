import HTTPTypes
import HummingbirdCore
import OnesheetCore
import OnesheetHTTP

/// The URL at which clients reach the server, according to a request.
struct PublicURL {
    /// The host for requests without `Host`.
    let listen: ListenAddress
    let isSecure: Bool

    /// The header field that the URL depends on, for `Vary`.
    static let vary = "X-Forwarded-Proto"

    /// `https://posters.example`. Behind a proxy that terminates TLS, only the proxy knows the scheme of the request.
    func text(of context: RequestContext) -> String {
        let saysSecure = context.headers[.forwardedProto] == "https" && context.client.isFromProxy
        return "\(isSecure || saysSecure ? "https" : "http")://\(context.request.head.authority ?? listen.description)"
    }
}
