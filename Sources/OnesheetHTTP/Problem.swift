package import HTTPTypes
import OnesheetCore

/// An error as clients see it (RFC 9457).
package struct Problem: Error {
    package let status: HTTPResponse.Status
    package let title: String
    package let detail: String
    /// Seconds after which it may work.
    package var retryAfter: Int?
    /// The methods that would have been answered.
    package var allow: [String]?

    /// Bytes that a detail may have: it can hold what a client or an origin sent.
    private static let longestDetail = 1024

    package init(
        _ status: HTTPResponse.Status, _ title: String, _ detail: String, retryAfter: Int? = nil, allow: [String]? = nil
    ) {
        self.status = status
        self.title = title
        self.detail = detail.shortened(to: Self.longestDetail)
        self.retryAfter = retryAfter
        self.allow = allow
    }

    /// The body.
    package struct Document: Encodable {
        let title: String
        let status: Int
        let detail: String
        /// What the log calls the request.
        let request: String?
    }

    /// The body of the response to the request that the log calls `request`.
    package func document(request: String?) -> Document {
        Document(title: title, status: status.code, detail: detail, request: request)
    }

    /// The fields of the response; caches keep no problem.
    package var fields: HTTPFields {
        var fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
        if let allow { fields[.allow] = allow.joined(separator: ", ") }
        if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
        return fields
    }
}

extension Problem {
    /// A condition of the request does not hold.
    package static let changed = Problem(
        .preconditionFailed, "Precondition failed", "the image is not the one that the request names")

    /// The server is about to end, or not begun.
    package static let notReady = Problem(.serviceUnavailable, "Not ready", "the server starts or ends", retryAfter: 1)

    /// Answers that slow clients have not taken yet have the memory that there is for them.
    package static let noRoomForAnswers = Problem(
        .serviceUnavailable, "Overloaded", "too many answers wait for slow clients; try again shortly", retryAfter: 1)

    package static func noSuchRange(size: Int) -> Problem {
        .init(.rangeNotSatisfiable, "No such range", "the image has \(size) bytes")
    }
}
