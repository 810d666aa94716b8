import OnesheetHTTP
import OnesheetAddress
import FoundationEssentials
import Hummingbird
import HTTPTypes
import Logging
import OnesheetCore

/// Answers requests: finds the route, lets it answer, and turns what went wrong into a problem document.
struct Front: HTTPResponder {
    typealias Context = BasicRequestContext

    let installation: Installation
    private let routes: [any Route]
    private let figures: ServerFigures

    /// - Parameter routes: asked in order; the first whose prefix the path has answers.
    init(_ installation: Installation, routes: [any Route], figures: ServerFigures) {
        self.installation = installation
        self.routes = routes
        self.figures = figures
    }

    private var cors: CORS { CORS(configuration: installation.configuration.cors) }

    func respond(to request: Request, context: Context) async -> Response {
        let start = ContinuousClock.now
        let id = RequestID(request.headers)
        // As sent: Hummingbird's URI gives up on escapes that are not UTF-8.
        let path = Self.path(of: request.head.path ?? "/")
        let route = routes.first { $0.takes(path) }
        installation.logger.trace("a request has begun", metadata: ["path": "\(path)"])
        var response = await RequestID.$current.withValue(id) {
            let outcome = await outcome(of: route, request, path)
            let took = ContinuousClock.now - start
            figures.add(outcome.status, on: route?.prefix ?? "other", after: took)
            installation.logger.debug(
                "answered",
                metadata: [
                    "method": "\(request.method)", "path": "\(path)", "status": "\(outcome.status.code)",
                    "milliseconds": "\(took / .milliseconds(1))",
                ])
            return outcome
        }
        cors.apply(to: &response.headers, origin: request.headers[.origin])
        // Good answers do without it, so that those of memory are the same for everybody.
        if response.status.code >= 400 { response.headers[.requestID] = id.description }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// What stands before the query, by bytes: a combining mark behind the question mark does not hide it.
    private static func path(of target: String) -> String { target.cut(at: "?").map { String($0.before) } ?? target }

    /// The route's answer, or the problem that it ended in.
    private func outcome(of route: (any Route)?, _ request: Request, _ path: String) async -> Response {
        do {
            return try await answer(of: route, request, path)
        } catch {
            let problem = Problem(error, at: installation.clock.now.timeIntervalSince1970)
            let level: Logger.Level = problem.status == .internalServerError ? .error : .info
            installation.logger.log(level: level, "\(error)", metadata: ["path": "\(path)"])
            return problem.response()
        }
    }

    private func answer(of route: (any Route)?, _ request: Request, _ path: String) async throws -> Response {
        guard let route else { throw RequestError.noSuchPath(path) }
        let allowed = route.methods.map(\.rawValue) + ["OPTIONS"]
        if request.method == .options {
            let fields: HTTPFields = [.allow: allowed.joined(separator: ", ")]
            return Response(status: .noContent, headers: fields + cors.preflight(request.headers, allowed))
        }
        guard route.methods.contains(request.method) else { throw RequestError.method(allowed: allowed) }
        // Anyone may ask: the cost is the strangers' until the catalog knows better.
        return try await Familiarity.$current.withValue(.unknown) {
            try await route.answer(path.dropFirst(bytes: route.prefix.utf8.count), request)
        }
    }
}

/// A part of the address space.
protocol Route: Sendable {
    /// The path itself, or, where it ends with a slash, everything below it.
    var prefix: String { get }
    var methods: [HTTPRequest.Method] { get }

    /// - Parameter rest: what follows the prefix, percent-encoded.
    func answer(_ rest: Substring, _ request: Request) async throws -> Response
}

extension Route {
    var methods: [HTTPRequest.Method] { [.get, .head] }

    func takes(_ path: String) -> Bool {
        prefix.hasSuffix("/") && prefix != "/" ? path.starts(withBytesOf: prefix) : path.isExactly(prefix)
    }
}
