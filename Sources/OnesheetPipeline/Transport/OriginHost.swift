import OnesheetCore

/// What shares connections, and fails together: a scheme, a host and a port.
struct OriginHost: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: WebURL) { (scheme, host, port) = (url.scheme, url.host, url.port) }
}
