import HTTPTypes
import HummingbirdCore
import OnesheetAddress
import OnesheetCore
import OnesheetHTTP

/// A route of the server.
protocol Route: Sendable {
    /// The exact path or, if it ends with a slash, the prefix of all paths of the route.
    var prefix: String { get }
    var methods: [HTTPTypes.HTTPRequest.Method] { get }

    /// Whether the route answers this path, percent-encoded and without the query. By default, `prefix` says that.
    func matches(_ path: String) -> Bool

    /// Whether the prefix is an address with and without its slash, as that of the administrator's routes: who writes orders by hand adds one or
    /// leaves one out. A proxy that denies them has to deny both spellings.
    var isSlashOptional: Bool { get }

    /// The response text for `GET`, if it is the same for every client and available without waiting. Called on the event loop.
    var immediateText: String? { get }

    /// Whether pages of every origin may read its answers, and send it the keys that its clients have.
    var isOpen: Bool { get }

    /// Answers a request.
    /// - Parameter rest: the path after the prefix, percent-encoded.
    func answer(_ context: RequestContext, rest: Substring) async throws -> Response

    /// The response to an error, if the clients of the route know another form than problem documents.
    func response(to problem: Problem) throws -> Response?
}

extension Route {
    var methods: [HTTPTypes.HTTPRequest.Method] { [.get, .head] }
    var immediateText: String? { nil }
    var isOpen: Bool { false }
    var isSlashOptional: Bool { false }
    func response(to problem: Problem) throws -> Response? { nil }

    /// The path after the prefix; `nil` if the route does not answer it.
    /// - Parameter merging: whether slashes in a row in the prefix are one. For images only: a rule of a proxy may close other prefixes.
    func rest(of path: String, merging: Bool) -> Substring? {
        guard merging else { return matches(path) ? path.dropFirst(bytes: prefix.utf8.count) : nil }
        guard prefix != "/", let rest = MergedSlashes.rest(of: path, behind: prefix), matches(prefix + rest) else { return nil }
        return rest
    }

    func matches(_ path: String) -> Bool {
        if isSlashOptional, path.isExactly(prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix + "/") { return true }
        return prefix.hasSuffix("/") && prefix != "/" ? path.starts(withBytesOf: prefix) : path.isExactly(prefix)
    }
}
