import HTTPTypes
import Hummingbird
import OnesheetCore
import OnesheetHTTP

/// Where clients reach the server, as far as a request tells.
struct PublicURL {
    /// The host for requests without `Host`.
    let listen: ListenAddress
    let isSecure: Bool

    /// What an answer with the URL depends on beside the request's own URL.
    static let vary = "X-Forwarded-Proto"

    /// `https://posters.example`. Behind a proxy that terminates TLS, only the proxy knows the scheme of the request.
    func text(of request: Request) -> String {
        let saysSecure = request.headers[.forwardedProto] == "https" && ClientRequest.current?.isFromProxy ?? true
        return "\(isSecure || saysSecure ? "https" : "http")://\(request.head.authority ?? listen.description)"
    }
}
