import HTTPTypes
import Hummingbird
import OnesheetCore

/// A part of the address space.
protocol Route: Sendable {
    /// The path itself or, if it ends with a slash, everything below it.
    var prefix: String { get }
    var methods: [HTTPRequest.Method] { get }

    /// The text that answers a `GET` now, if that takes no waiting and the text is the same for everybody: an event loop asks.
    var immediateText: String? { get }

    /// - Parameter rest: what follows the prefix, percent-encoded.
    func answer(_ rest: Substring, _ request: Request) async throws -> Response
}

extension Route {
    var methods: [HTTPRequest.Method] { [.get, .head] }
    var immediateText: String? { nil }

    func takes(_ path: String) -> Bool {
        prefix.hasSuffix("/") && prefix != "/" ? path.starts(withBytesOf: prefix) : path.isExactly(prefix)
    }
}
