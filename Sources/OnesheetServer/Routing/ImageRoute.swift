import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline

/// A route to images, with its own address grammar.
protocol ImageRoute: Route {
    var images: ImageContext { get }
    /// The name of its grammar: `sizes`, `options`, or the name of a dialect.
    var grammar: String { get }
    /// The name in metrics.
    var label: String { get }
    /// Whether the query is part of the address.
    var readsQuery: Bool { get }

    /// Parses the path after the prefix, percent-encoded, with the query if `readsQuery`, and checks the signature if the grammar
    /// has one.
    /// - Returns: `nil` if the address is valid but not an image's; `other` then answers.
    func address(_ rest: Substring) throws(RequestError) -> ImageAddress?

    /// Refuses a query that is not part of the address, if it was meant to be.
    /// - Parameter rest: the path before it, as for `address`.
    func checkQuery(behind rest: Substring) throws(RequestError)

    /// Answers a request whose address is not an image's.
    func other(_ context: RequestContext, rest: Substring) async throws -> Response
}

extension ImageRoute {
    var label: String { Self.label(of: prefix) }
    var readsQuery: Bool { false }

    /// `/` is the console.
    static func label(of prefix: String) -> String { prefix == "/" ? "/{signature}/" : prefix }

    func checkQuery(behind rest: Substring) throws(RequestError) {}

    func other(_ context: RequestContext, rest: Substring) async throws -> Response {
        throw RequestError.noSuchPath(prefix + rest)
    }

    /// Parses an address, checks its expiry and counts the request.
    /// - Parameters:
    ///   - query: begins with the question mark; empty without a query.
    ///   - counts: whether it is a request for the image.
    func read(_ rest: Substring, query: Substring = "", at now: Date, counts: Bool = true) throws -> ImageAddress? {
        let path = MergedSlashes.restored(in: readsQuery ? rest + query : rest)
        if !readsQuery, !query.isEmpty { try checkQuery(behind: path) }
        guard let address = try address(path) else { return nil }
        try address.checkExpiry(at: now.timeIntervalSince1970)
        if counts { try address.count() }
        return address
    }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        guard let address = try read(rest, query: context.query, at: images.clock.now) else {
            return try await other(context, rest: rest)
        }
        return try await images.answer(context, with: images.target(address, accept: context.headers[.accept]))
    }
}
