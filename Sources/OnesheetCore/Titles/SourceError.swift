import FoundationEssentials

/// The reason for which a source could not answer. Each case has the value that failed.
public enum SourceError: Error, Sendable, Equatable {
    /// There is no such title.
    case notFound(id: String)
    /// The service rejected the key; `message` is the service's own.
    case unauthorized(message: String)
    /// The quota of calls is exhausted. It resets at `until`, in seconds since 1970, if that is known.
    case quotaExhausted(until: Double?)
    /// The service cannot be reached or reports a failure.
    case unavailable(reason: String)
    /// What the operator has installed for the source, such as a program, has failed. `details` are its own words, such as the last lines of
    /// its standard error. They may name paths of this machine, so only the log, the commands and the administrator get them.
    case failed(reason: String, details: String)
    /// This server has no room for the call: the source has as many as it may, there is no memory for the answer, or no place in the queue
    /// of its host. There is likely room after `retryAfter` seconds.
    case overloaded(retryAfter: Int)
    /// The service answered in an undocumented form.
    case malformedAnswer(reason: String)
    /// The source does not support the request.
    case unsupported(String)
}

extension SourceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound(let id): "there is no title “\(shown(id: id))”"
        case .unauthorized(let message): "the service rejected the key: \(message)"
        case .quotaExhausted(let until):
            "the service's quota is exhausted" + (until.map { "; it resets at \(Self.moment($0))" } ?? "")
        case .unavailable(let reason): "the service is unavailable: \(reason)"
        case .failed(let reason, let details): "the service is unavailable: \(reason): \(details)"
        case .overloaded(let seconds): "this server has no room for the call; try again in \(seconds) s"
        case .malformedAnswer(let reason): "the service's answer is malformed: \(reason)"
        case .unsupported(let what): "not supported: \(what)"
        }
    }

    private static func moment(_ seconds: Double) -> String {
        AnswerCheck.calendar.contains(seconds)
            ? Date(timeIntervalSince1970: seconds).formatted(.iso8601) : "an invalid time"
    }
}

extension SourceError {
    /// The error for visitors: without details that may be private.
    package var withoutDetails: SourceError {
        if case .failed(let reason, _) = self { .unavailable(reason: reason) } else { self }
    }

    /// What only the log, the commands and the administrator may read.
    package var details: String? {
        if case .failed(_, let details) = self { details } else { nil }
    }

    /// The source error for a failed request. Queries are left out because they carry keys.
    public init(_ error: HTTPTransportError) {
        switch error {
        case .forbidden(let url, let reason):
            self = .unavailable(reason: "\(shown(url)) may not be fetched: \(reason)")
        case .invalidURL(let url):
            self = .unavailable(reason: "“\(shown(url))” is not an http or https URL")
        case .timedOut(let url):
            self = .unavailable(reason: "\(shown(url)) did not answer in time")
        case .tooLarge(let url, let limit):
            self = .malformedAnswer(reason: "\(shown(url)) sends more than \(limit) bytes")
        case .tooManyRedirects(let url):
            self = .unavailable(reason: "\(shown(url)) redirects too often")
        case .unavailable(let url, let seconds):
            self = .unavailable(reason: "\(shown(url)) failed too often or asked for a pause; try again in \(seconds) s")
        case .crowded(_, let seconds):
            self = .overloaded(retryAfter: seconds)
        case .overloaded:
            self = .overloaded(retryAfter: 1)
        case .failed(let url, let reason):
            self = .unavailable(reason: "\(shown(url)) cannot be fetched: \(reason)")
        }
    }
}
