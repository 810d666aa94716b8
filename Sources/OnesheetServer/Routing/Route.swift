import HTTPTypes
import Hummingbird
import OnesheetCore

/// A route of the server.
protocol Route: Sendable {
    /// The exact path or, if it ends with a slash, the prefix of all paths of the route.
    var prefix: String { get }
    var methods: [HTTPRequest.Method] { get }

    /// The response text for `GET`, if it is the same for every client and available without waiting. Called on the event loop.
    var immediateText: String? { get }

    /// - Parameter rest: the path after the prefix, percent-encoded.
    func answer(_ rest: Substring, _ request: Request) async throws -> Response
}

extension Route {
    var methods: [HTTPRequest.Method] { [.get, .head] }
    var immediateText: String? { nil }

    func matches(_ path: String) -> Bool {
        prefix.hasSuffix("/") && prefix != "/" ? path.starts(withBytesOf: prefix) : path.isExactly(prefix)
    }
}
