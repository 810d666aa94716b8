import FoundationEssentials
import HTTPTypes
import Hummingbird
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
        case let hidden as HiddenSourceError:
            let problem = Problem(hidden.error, at: now)
            self = hidden.revealsSource ? problem.withoutDetail : problem
        case let error as RequestError: self.init(error)
        case let error as PipelineError: self.init(error, at: now)
        case let error as PosterNumberError: self.init(.notFound, title: "Not found", detail: error.description)
        case let error as UnknownCandidateError: self.init(.notFound, title: "Not found", detail: error.description)
        case let error as ChangedDecisionError: self.init(.conflict, title: "Changed meanwhile", detail: error.description)
        case let error as DecisionNotKept:
            self.init(.serviceUnavailable, title: "Decision not kept", detail: error.description, retryAfter: 2)
        case let error as CacheError: self.init(error)
        case let error as UnfinishedPurge: self.init(error)
        default:
            self.init(
                .internalServerError, title: "Internal error",
                detail: "an internal error occurred; the server's log has the details")
        }
    }

    /// The same problem for clients that may not see the source URL.
    private var withoutDetail: Problem {
        var hidden = Problem(
            status, title: title,
            detail: "the original behind the encrypted source URL is not available; the server's log has the reason",
            retryAfter: retryAfter)
        hidden.isOriginals = isOriginals
        return hidden
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

    /// The detail has no paths of this machine and no text of a library or a plugin, which may contain some. The log has both.
    private init(_ error: CacheError) {
        let detail =
            switch error {
            case .fileSystem(let operation, _, let reason): "cannot \(operation) a file or folder of the cache: \(reason)"
            case .index(let operation, _): "cannot \(operation) the cache index"
            case .tier(let operation, _): "a tier of the cache failed: cannot \(operation)"
            case .notACache: "the folder of the cache has files and is not a Onesheet cache"
            }
        self.init(.internalServerError, title: "Cache failed", detail: "\(detail); the server's log has the details")
    }

    private init(_ error: UnfinishedPurge) {
        let title =
            switch error {
            case .unannounced: "Other servers not reached"
            case .undeleted: "Objects not deleted"
            }
        self.init(.serviceUnavailable, title: title, detail: error.description)
    }

    private init(_ error: PipelineError, at now: Double) {
        let detail = error.description
        switch error {
        case .unknownSource, .noPoster: self.init(.notFound, title: "Not found", detail: detail)
        case .source(_, let failure):
            self.init(failure, error.withoutDetails.description, at: now)
            if failure.details != nil { wholeDetail = detail }
        case .origin(let error): self.init(error)
        case .originRefused(_, let status):
            self =
                status == 404 || status == 410
                ? .init(.notFound, title: "Not found", detail: detail) : .init(.badGateway, title: "Origin failed", detail: detail)
        case .render(let error): self.init(error)
        case .overloaded(let seconds): self.init(.serviceUnavailable, title: "Overloaded", detail: detail, retryAfter: seconds)
        case .timedOut: self.init(.gatewayTimeout, title: "Image too slow", detail: detail)
        case .tooManyRequests(let seconds):
            self.init(.tooManyRequests, title: "Too many requests", detail: detail, retryAfter: seconds)
        case .cancelled: self.init(.serviceUnavailable, title: "Cancelled", detail: detail, retryAfter: 1)
        }
    }

    private init(_ error: SourceError, _ detail: String, at now: Double) {
        switch error {
        case .notFound: self.init(.notFound, title: "Not found", detail: detail)
        case .unauthorized, .malformedAnswer: self.init(.badGateway, title: "Source failed", detail: detail)
        case .unavailable, .failed: self.init(.badGateway, title: "Source unavailable", detail: detail, retryAfter: 10)
        case .overloaded(let seconds): self.init(.serviceUnavailable, title: "Overloaded", detail: detail, retryAfter: seconds)
        case .quotaExhausted(let until):
            self.init(
                .serviceUnavailable, title: "Quota exhausted", detail: detail,
                retryAfter: until.map { Self.seconds(until: $0, at: now) } ?? 3600)
        case .unsupported: self.init(.badRequest, title: "Not supported by this source", detail: detail)
        }
    }

    private init(_ error: HTTPTransportError) {
        switch error {
        case .forbidden, .invalidURL: self.init(.forbidden, title: "Forbidden", detail: error.description)
        case .timedOut: self.init(.gatewayTimeout, title: "Origin too slow", detail: error.description)
        case .tooLarge:
            self.init(.contentTooLarge, title: "Original too large", detail: error.description)
            isOriginals = true
        case .unavailable(_, let seconds):
            self.init(.serviceUnavailable, title: "Origin unavailable", detail: error.description, retryAfter: seconds)
        case .crowded(_, let seconds):
            self.init(.serviceUnavailable, title: "Overloaded", detail: error.description, retryAfter: seconds)
        // The render pool knows the real delay and throws `PipelineError.overloaded`. This case does not, so it uses the minimum of
        // one second.
        case .overloaded: self.init(.serviceUnavailable, title: "Overloaded", detail: error.description, retryAfter: 1)
        case .tooManyRedirects, .failed: self.init(.badGateway, title: "Origin failed", detail: error.description)
        }
    }

    private init(_ error: RenderError) {
        switch error {
        case .unrecognizedFormat, .foreignFormat, .codec, .tooMuchMemory, .tooManyBytes:
            self.init(.unprocessableContent, title: "Not a usable image", detail: error.description)
            isOriginals = true
        case .tooManyOutputPixels, .outside, .noEncoder, .otherWatermark:
            self.init(.badRequest, title: "Bad request", detail: error.description)
        case .timedOut: self.init(.gatewayTimeout, title: "Rendering too slow", detail: error.description)
        case .lost(.killed):
            self.init(.serviceUnavailable, title: "Render process lost", detail: error.description, retryAfter: 1)
        case .lost:
            self.init(.unprocessableContent, title: "Not a usable image", detail: error.description)
            isOriginals = true
        case .noProcess(let seconds):
            self.init(.serviceUnavailable, title: "Cannot render", detail: error.description, retryAfter: seconds)
        }
    }

    /// Seconds until a moment that a source names: at least 1, at most a year.
    static func seconds(until moment: Double, at now: Double) -> Int { min(max(Int(saturating: moment - now), 1), 366 * 86_400) }

    /// The problem as a response. Caches must not store it.
    func response() -> Response {
        let type = fields[.contentType] ?? ""
        var response: Response
        do {
            response = try Response.json(document(request: RequestID.current?.description), status: status, type: type)
        } catch {
            response = .written("{\"status\":\(status.code)}", status: status, type: type)
        }
        for field in fields { response.headers[field.name] = field.value }
        return response
    }
}
