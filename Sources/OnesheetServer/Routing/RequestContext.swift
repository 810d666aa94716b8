import HTTPTypes
import HummingbirdCore

/// A request that is being answered, with what each step needs to know of it. It is made when the request arrives, and is the first argument
/// of everything that answers it.
struct RequestContext: Sendable {
    let request: Request
    /// The client, with the limits that the request counts against.
    let client: ClientRequest
    /// The request as the fast path has parsed it, if it has; then as the router has found its route.
    let routed: RoutedRequest?

    var method: HTTPTypes.HTTPRequest.Method { request.method }
    var headers: HTTPFields { request.headers }
    var uri: URI { request.uri }
    /// The query as sent. Begins with the question mark; empty without a query. Hummingbird's URI fails on escapes that are not UTF-8.
    var query: Substring { routed?.query ?? "" }

    func with(_ routed: RoutedRequest) -> RequestContext { RequestContext(request: request, client: client, routed: routed) }
}
