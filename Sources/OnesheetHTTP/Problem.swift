package import HTTPTypes
package import OnesheetCore

/// An HTTP error response (RFC 9457).
package struct Problem: Error {
    package let status: HTTPResponse.Status
    package let title: String
    package private(set) var detail: String
    /// The detail for the administrator, if it has what a visitor may not read.
    package var wholeDetail: String? {
        didSet { wholeDetail = wholeDetail?.shortened(to: Self.longestDetail) }
    }
    /// Seconds until a retry may succeed.
    package var retryAfter: Int?
    /// The allowed methods of a 405 response.
    package var allow: [String]?
    /// The name of the invalid option, if there is one.
    package var option: String?
    /// Whether the bytes of an original are at fault, although the status blames the request.
    package var isOriginals = false

    /// The maximum length of a detail in bytes. It may contain text from a client or an origin.
    private static let longestDetail = 1024

    package init(
        _ status: HTTPResponse.Status, title: String, detail: String, retryAfter: Int? = nil, allow: [String]? = nil
    ) {
        self.status = status
        self.title = title
        self.detail = detail.shortened(to: Self.longestDetail)
        self.retryAfter = retryAfter
        self.allow = allow
    }

    /// The same problem with other texts, such as those without a secret.
    package func replacing(_ text: (String) -> String) -> Problem {
        var copy = self
        (copy.detail, copy.wholeDetail) = (text(detail), wholeDetail.map(text))
        return copy
    }

    /// The response body.
    package struct Document: Encodable {
        let title: String
        let status: Int
        let detail: String
        /// The name of the invalid option, so that a form can show the problem beside its field.
        let option: String?
        /// The request's identifier in the log.
        let request: String?
    }

    /// The response body for the request with this identifier.
    package func document(request: String?) -> Document {
        Document(title: title, status: status.code, detail: detail, option: option, request: request)
    }

    /// The response's header fields. Caches must not store a problem.
    package var fields: HTTPFields {
        var fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
        if let allow { fields[.allow] = allow.joined(separator: ", ") }
        if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
        return fields
    }
}

extension Problem {
    /// The problem for `failure`, without what only the administrator may read.
    package init(_ failure: Failure, at now: Double) {
        let retryAfter: Int? =
            switch failure.retry {
            case .unknown: nil
            case .after(let seconds): seconds
            // At most a year: a source names the time.
            case .at(let time): min(max(Int(saturating: time - now), 1), 366 * 86_400)
            }
        self.init(HTTPResponse.Status(failure.status), title: failure.title, detail: failure.message, retryAfter: retryAfter)
        if failure.details != nil { wholeDetail = failure.description }
        isOriginals = failure.blame == .image
    }

    /// A precondition of the request is false.
    package static let changed = Problem(
        .preconditionFailed, title: "Precondition failed", detail: "the image or document does not meet the request's condition")

    /// The server starts or shuts down.
    package static let notReady = Problem(
        .serviceUnavailable, title: "Not ready", detail: "the server is starting or shutting down", retryAfter: 1)

    /// No render process can be started.
    package static let cannotRender = Problem(
        .serviceUnavailable, title: "Not ready", detail: "no render process can be started; the server's log has the reason",
        retryAfter: 1)

    /// Responses for slow clients use all the memory for responses.
    package static let noRoomForAnswers = Problem(
        .serviceUnavailable, title: "Overloaded", detail: "too many responses wait for slow clients; try again shortly",
        retryAfter: 1)

    /// The body of the request is too long.
    /// - Parameter limit: the most bytes.
    package static func bodyTooLarge(limit: Int) -> Problem {
        .init(.contentTooLarge, title: "Body too large", detail: "the body has more than \(limit >> 20) MiB")
    }

    /// The client has left before the end of the request's body. It never reads this, but it is no error of the server.
    package static func bodyIncomplete(_ error: any Error) -> Problem {
        .init(.badRequest, title: "Body incomplete", detail: "the connection ended before the body: \(error)")
    }

    package static func noSuchRange(size: Int) -> Problem {
        .init(.rangeNotSatisfiable, title: "No such range", detail: "the image has \(size) bytes")
    }
}

extension HTTPResponse.Status {
    fileprivate init(_ status: Failure.Status) {
        self =
            switch status {
            case .badRequest: .badRequest
            case .forbidden: .forbidden
            case .notFound: .notFound
            case .conflict: .conflict
            case .tooLarge: .contentTooLarge
            case .unusable: .unprocessableContent
            case .tooManyRequests: .tooManyRequests
            case .internalError: .internalServerError
            case .badGateway: .badGateway
            case .unavailable: .serviceUnavailable
            case .tooSlow: .gatewayTimeout
            }
    }
}
