import OnesheetHTTP
import OnesheetAddress
import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import Logging
import OnesheetCore
import OnesheetPipeline

/// Answers requests: finds the route, calls it, and turns errors into problem documents.
struct Router: Sendable {
    let table: RouteTable
    let commonFields: CommonFields
    private let errors: RecentErrors
    private let pageOf: @Sendable (Problem, HTTPFields) -> Response
    private let coding: DocumentCoding
    /// The documents that event loops send.
    let kept: KeptDocuments
    private let tracing: RequestTracing
    private let keys: ClientKeys
    private let absent: [any Dialect.Type]
    private let logger: Logger
    private var clock: WallClock { table.images.clock }

    /// - Parameters:
    ///   - coding: compresses documents.
    ///   - kept: the documents that event loops send.
    ///   - errors: the last server errors.
    ///   - keys: what logs, traces and errors leave out.
    ///   - absent: the dialects that the configuration does not have, for errors.
    ///   - pageOf: a problem as an HTML page, for browsers at an unknown path.
    init(
        _ table: RouteTable, _ commonFields: CommonFields, coding: DocumentCoding, kept: KeptDocuments, errors: RecentErrors,
        tracing: RequestTracing, keys: ClientKeys, absent: [any Dialect.Type], logger: Logger,
        pageOf: @escaping @Sendable (Problem, HTTPFields) -> Response
    ) {
        self.table = table
        self.commonFields = commonFields
        self.coding = coding
        self.kept = kept
        self.errors = errors
        self.logger = logger
        self.tracing = tracing
        self.keys = keys
        self.absent = absent
        self.pageOf = pageOf
    }

    func respond(_ received: RequestContext) async -> Response {
        let (request, start) = (received.request, ContinuousClock.now)
        let routed = route(received)
        let context = received.with(routed)
        let path = routed.path
        logger.trace("request received", metadata: ["path": "\(keys.shown(request: path))"])
        var response = await tracing.run(request, to: routed.entry.name, path: keys.shown(request: path)) {
            let outcome = await outcome(context, routed)
            let duration = ContinuousClock.now - start
            let bytes = request.method == .head ? 0 : outcome.body.contentLength ?? 0
            routed.entry.counter.add(outcome.status.kind, bytes: bytes, nanoseconds: Int(duration / .nanoseconds(1)))
            logger.debug(
                "answered",
                metadata: [
                    "method": "\(request.method)", "path": "\(keys.shown(request: path))", "status": "\(outcome.status.code)",
                    "milliseconds": "\(duration / .milliseconds(1))",
                ])
            return outcome
        }
        if response.headers[.cacheControl] == nil {
            // Without the field, a cache may choose a lifetime itself (RFC 9111 §4.2.2). Make caches revalidate every read, and store
            // no response to a change.
            response.headers[.cacheControl] = request.method == .get || request.method == .head ? "no-cache" : "no-store"
        }
        commonFields.apply(to: &response.headers, origin: request.headers[.origin])
        response.headers[.date] = HTTPDate.text(clock.now)
        // Omit the request ID on success, so that cached responses are byte-identical.
        if response.status.code >= 400 { response.headers[.requestID] = context.client.id }
        return request.method == .head ? response.withoutBody : response
    }

    /// The fast path's parsed request, unless the configuration was reloaded since, or else a new lookup of the route.
    private func route(_ context: RequestContext) -> RoutedRequest {
        // The path as sent. Hummingbird's URI fails on escapes that are not UTF-8.
        let target = context.request.head.path ?? "/"
        if let routed = context.routed, routed.table === table, routed.target.isExactly(target) { return routed }
        return table.route(target)
    }

    /// The route's response, or the problem document of its error.
    private func outcome(_ context: RequestContext, _ routed: RoutedRequest) async -> Response {
        let request = context.request
        do {
            let response = try await answer(context, routed)
            guard request.method == .get || request.method == .head, let document = try await DocumentResponse(response) else {
                return response
            }
            return document.encoded(for: ContentCodings(request.headers[.acceptEncoding]), coding).answer(to: request.headers)
        } catch {
            guard !Task.isCancelled else { return Response(status: .clientLeft) }
            let error = Self.withoutKey(error)
            let hint = routed.entry.route == nil ? hint(at: routed.path) : ""
            let problem = Problem(error, at: clock.now.timeIntervalSince1970).replacing { keys.left(outOf: $0) + hint }
            let path = keys.shown(request: routed.path)
            let level: Logger.Level = problem.status == .internalServerError ? .error : .info
            logger.log(level: level, "\(keys.left(outOf: "\(error)"))", metadata: ["path": "\(path)"])
            errors.note(problem, at: path, request: context.client.id, now: clock.now)
            return Self.isForPerson(error, request.headers) ? pageOf(problem, request.headers) : response(to: problem, routed)
        }
    }

    /// The end of an error at an unknown path, if a dialect would answer there.
    private func hint(at path: String) -> String {
        absent.first { $0.answers(at: path) }
            .map { "; the configuration has no dialect “\($0.name)”, which is for such addresses" } ?? ""
    }

    /// The error without the key of a client in a path that it names.
    private static func withoutKey(_ error: any Error) -> any Error {
        guard case .noSuchPath(let path)? = error as? RequestError else { return error }
        return RequestError.noSuchPath(ClientKeys.left(outOfPage: path))
    }

    /// The problem in the form of the route's clients.
    private func response(to problem: Problem, _ routed: RoutedRequest) -> Response {
        do { return try routed.entry.route?.response(to: problem) ?? problem.response() } catch { return problem.response() }
    }

    /// Whether a browser asks for an unknown path. Programs do not name HTML in `Accept`, and get a problem document.
    private static func isForPerson(_ error: any Error, _ fields: HTTPFields) -> Bool {
        guard case .noSuchPath? = error as? RequestError else { return false }
        return WeightedValues(fields[.accept]).asks(for: "text/html")
    }

    private func answer(_ context: RequestContext, _ routed: RoutedRequest) async throws -> Response {
        guard let route = routed.entry.route else { throw RequestError.noSuchPath(routed.path) }
        let allowed = route.methods.map(\.rawValue) + ["OPTIONS"]
        if context.method == .options {
            let fields: HTTPFields = [.allow: allowed.joined(separator: ", ")]
            return .withoutContent(.noContent, fields + commonFields.cors.preflight(context.headers, allowed, isOpen: route.isOpen))
        }
        guard route.methods.contains(context.method) else { throw RequestError.method(allowed: allowed) }
        switch routed.image {
        case .refused(let error):
            // An address without errors whose source is unknown is an image that was asked for.
            if (error as? Failure)?.status == .notFound { table.images.countFailure() }
            throw error
        case .document:
            guard let image = routed.entry.image else { throw RequestError.noSuchPath(routed.path) }
            return try await image.other(context, rest: routed.rest)
        case .parsed(let target, let lookUp): return try await table.images.answer(context, with: target, after: lookUp)
        case nil: return try await route.answer(context, rest: routed.rest)
        }
    }
}

extension HTTPResponse.Status {
    /// The status of a request whose client left before its response began, as nginx writes it.
    fileprivate static let clientLeft = HTTPResponse.Status(code: LoggedRequest.clientLeft)
}
