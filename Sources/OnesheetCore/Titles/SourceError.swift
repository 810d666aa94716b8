import FoundationEssentials

/// The reason for which a source could not answer. Each case has the value that failed.
public enum SourceError: Error, Sendable, Equatable {
    /// There is no such title.
    case notFound(id: String)
    /// The service rejected the key; `message` is the service's own. Visitors do not get it.
    case unauthorized(message: String)
    /// The service answers only so many calls in a time. It answers again after `retryAfter` seconds.
    case rateLimited(retryAfter: Int)
    /// The quota of calls is exhausted. It resets at `until`, in seconds since 1970, if that is known.
    case quotaExhausted(until: Double?)
    /// The service cannot be reached or reports a failure. If it said when to try again, that is after `retryAfter` seconds.
    case unavailable(reason: String, retryAfter: Int? = nil)
    /// The service cannot be asked, or what the operator has installed for the source, such as a program, has failed. `details` are the place
    /// or its own words, such as the last lines of its standard error. They may name hosts and paths, so only the log, the commands and the
    /// administrator get them.
    case failed(reason: String, details: String)
    /// This server has no room for the call: the source has as many as it may, there is no memory for the answer, or no place in the queue
    /// of its host. There is likely room after `retryAfter` seconds.
    case overloaded(retryAfter: Int)
    /// The service answered in an undocumented form. `details` are parts of the answer, which may be private, so visitors do not get them.
    case malformedAnswer(reason: String, details: String? = nil)
    /// The source does not support the request. `details` are words that are not ours, so visitors do not get them.
    case unsupported(String, details: String? = nil)
}

extension SourceError: CustomStringConvertible {
    /// The whole text, for the log and the administrator.
    public var description: String { details.map { "\(message): \($0)" } ?? message }

    /// What anyone may read.
    package var message: String {
        switch self {
        case .notFound(let id): "there is no title “\(shown(id: id))”"
        case .unauthorized: "the service rejected the key"
        case .rateLimited(let seconds): "the service limits the rate of calls; try again in \(seconds) s"
        case .quotaExhausted(let until):
            "the service's quota is exhausted" + (until.map { "; it resets at \(Self.moment($0))" } ?? "")
        case .unavailable(let reason, _), .failed(let reason, _): "the service is unavailable: \(reason)"
        case .overloaded(let seconds): "this server has no room for the call; try again in \(seconds) s"
        case .malformedAnswer(let reason, _): "the service's answer is malformed: \(reason)"
        case .unsupported(let what, _): "not supported: \(what)"
        }
    }

    /// What only the log, the commands and the administrator may read.
    package var details: String? {
        switch self {
        case .unauthorized(let message): message
        case .failed(_, let details): details
        case .malformedAnswer(_, let details), .unsupported(_, let details): details
        case .notFound, .rateLimited, .quotaExhausted, .unavailable, .overloaded: nil
        }
    }

    /// Whether the source does not support the request.
    package var isUnsupported: Bool { if case .unsupported = self { true } else { false } }

    private static func moment(_ seconds: Double) -> String {
        AnswerCheck.calendar.contains(seconds)
            ? Date(timeIntervalSince1970: seconds).formatted(.iso8601) : "an invalid time"
    }
}

extension SourceError {
    /// The source error for a failed request. Visitors get nothing of the URL, because a service may have a private name; the details are its
    /// origin alone, because paths and queries carry keys. The log has the rest.
    public init(_ error: HTTPTransportError) {
        switch error {
        case .invalidURL: self = .unavailable(reason: "what is to be fetched is not an http or https URL")
        case .forbidden, .timedOut, .tooManyRedirects, .failed: self = .failed(reason: "it \(error.words)", details: error.origin)
        case .tooLarge: self = .malformedAnswer(reason: "it \(error.words)", details: error.origin)
        case .unavailable(_, let seconds): self = .unavailable(reason: "it \(error.words)", retryAfter: seconds)
        case .crowded(_, let seconds): self = .overloaded(retryAfter: seconds)
        case .overloaded: self = .overloaded(retryAfter: 1)
        }
    }
}

extension Failure {
    /// The source of this name could not answer.
    package static func source(_ name: String, _ error: SourceError) -> Failure {
        func failure(
            _ title: String, by blame: Blame = .source, status: Status, retry: Retry = .unknown, memory: Memory,
            traits: Traits = [],
            summary: String? = nil
        ) -> Failure {
            Failure(
                blame: blame, status: status, title: title, message: "source \(name): \(error.message)", details: error.details,
                summary: summary, retry: retry, memory: memory, traits: traits)
        }
        return switch error {
        case .notFound:
            failure("Not found", by: .request, status: .notFound, memory: Memory(image: 120, question: 600), traits: .isMissing)
        // Each of these has cost a call and will most likely fail again.
        case .unauthorized:
            failure("Source failed", status: .badGateway, memory: Memory(image: 2, question: 30), traits: .allowsStale)
        case .malformedAnswer:
            failure(
                "Source failed", status: .badGateway, memory: Memory(image: 2, question: 30), traits: [.allowsStale, .endsList])
        case .unavailable(_, let seconds):
            failure(
                "Source unavailable", status: .badGateway, retry: .after(seconds ?? 10), memory: Memory(image: 2, question: 2),
                traits: .allowsStale)
        case .failed:
            failure(
                "Source unavailable", status: .badGateway, retry: .after(10), memory: Memory(image: 2, question: 2),
                traits: .allowsStale)
        // The source refuses further calls itself. The next title may be asked for as soon as the service allows.
        case .rateLimited(let seconds):
            failure(
                "Rate limited", status: .unavailable, retry: .after(seconds), memory: Memory(),
                traits: [.allowsStale, .pausesPrefetch],
                summary: "source \(name): the service limits the rate of calls")
        // The calls that a prefetch may not make are reserved for interactive requests.
        case .quotaExhausted(let until):
            failure(
                "Quota exhausted", status: .unavailable, retry: until.map { .at($0) } ?? .after(3600),
                memory: Memory(image: 2, question: until == nil ? 30 : nil, skipsPrefetch: true), traits: .allowsStale)
        case .overloaded(let seconds): .overloaded(retryAfter: seconds)
        case .unsupported: failure("Not supported by this source", by: .request, status: .badRequest, memory: Memory(image: 120))
        }
    }
}
