import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetAddress
import OnesheetCache
import OnesheetCluster
import OnesheetCore
import OnesheetHTTP
import OnesheetImaging
import OnesheetPipeline

/// Maps errors to HTTP status codes. `Problem.swift` has the problems that are thrown as such.
extension Problem {
    /// The problem for `error`. An error of unknown type becomes an internal error whose details stay in the log.
    init(_ error: any Error, at now: Double) {
        switch error {
        case let problem as Problem: self = problem
        case let error as RequestError: self.init(error)
        case let failure as Failure: self.init(failure, at: now)
        case let error as CacheError: self.init(.cache(error), at: now)
        default:
            self.init(
                .internalServerError, title: "Internal error",
                detail: "an internal error occurred; the server's log has the details")
        }
    }

    private init(_ error: RequestError) {
        switch error {
        case .bad(let option, _, _):
            self.init(.badRequest, title: "Bad request", detail: error.description)
            self.option = option.shortened(to: 64)
        case .unknown, .malformed: self.init(.badRequest, title: "Bad request", detail: error.description)
        case .badSignature, .forbidden, .presetsOnly: self.init(.forbidden, title: "Forbidden", detail: error.description)
        case .expired: self.init(.notFound, title: "Expired", detail: error.description)
        case .unauthorized: self.init(.unauthorized, title: "Unauthorized", detail: error.description)
        case .noSuchPath: self.init(.notFound, title: "Not found", detail: error.description)
        case .method(let allowed):
            self.init(.methodNotAllowed, title: "Method not allowed", detail: error.description, allow: allowed)
        }
    }

    /// The problem as a response. Caches must not store it.
    func response() -> Response {
        let type = fields[.contentType] ?? ""
        var response: Response
        do {
            response = try Response.json(document(request: WorkContext.current.request), status: status, type: type)
        } catch {
            response = .written(ByteBuffer(string: "{\"status\":\(status.code)}"), status: status, type: type)
        }
        for field in fields { response.headers[field.name] = field.value }
        return response
    }
}
