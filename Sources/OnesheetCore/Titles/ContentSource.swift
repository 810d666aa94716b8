internal import FoundationEssentials

/// A plugin that knows titles and where each title's original poster is.
public protocol ContentSource: Sendable {
    /// The rules for fetching this source's candidates.
    var originPolicy: OriginPolicy { get }

    /// Whether an id always stands for the same picture, so that a new picture gets a new id; `false` by default.
    var isVersioned: Bool { get }

    /// Whether the source asks a service, so that each call costs something; `true` by default. The server remembers missing titles
    /// and candidates for a while only if calls cost something.
    var asksService: Bool { get }

    /// The requests that the source supports. The default is a list that does not depend on a date, and a search.
    var capabilities: SourceCapabilities { get }

    /// The quotas of the services that the source asks; empty by default. The server shows them. Must not cost a call.
    func quotas() async -> [QuotaReport]

    /// The canonical spelling of `id`. Ids that stand for the same picture, or for none, may have one spelling and then share their
    /// variants. Must be cheap. The default returns `id`.
    func canonicalID(_ id: String) -> String

    /// The canonical id of the picture at `url`, which the allow-list of `originPolicy` contains. The default asks `canonicalID(_:)` with
    /// its text; a source whose ids are URLs need not parse and check it again.
    func canonicalID(of url: WebURL) -> String

    /// Titles whose posters may have changed since the previous call, including calls before a restart. The server polls about once
    /// a second; each call acknowledges the previous result. `nil` (default): posters never change by themselves, so originals are
    /// revalidated when they are stale.
    func changes() async throws(SourceError) -> TitleChanges?

    /// One page of the titles that match `query`.
    /// - Throws: `SourceError`: `.unsupported` if this source has no lists or no search.
    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage

    /// All data about the title.
    /// - Throws: `SourceError`: `.notFound` if there is no such title.
    func title(_ id: String) async throws(SourceError) -> Title

    /// Possible places of the title's original poster, best first; empty if there is none.
    /// - Throws: `SourceError`: `.notFound` if there is no such title.
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate]

    /// Ends the work that the source has started, such as programs, and returns when it has ended. Called once, when the server or the command
    /// ends. The task is cancelled when the time for that is over (`shutdown.deadline`). The default does nothing.
    ///
    /// A reload does not call it: the previous source is released after its last request.
    func shutdown() async
}

extension ContentSource {
    public var isVersioned: Bool { false }
    public var asksService: Bool { true }
    public var capabilities: SourceCapabilities { SourceCapabilities() }
    public func quotas() async -> [QuotaReport] { [] }
    public func canonicalID(_ id: String) -> String { id }
    public func canonicalID(of url: WebURL) -> String { canonicalID(url.description) }
    public func changes() async throws(SourceError) -> TitleChanges? { nil }
    public func shutdown() async {}
}

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

/// The requests that a source supports, so that clients offer no others.
public struct SourceCapabilities: Sendable, Equatable {
    /// Whether it has lists of titles.
    public var hasLists: Bool
    /// The periods of its lists by date; empty if its list does not depend on a date.
    public var periods: [TitleQuery.Period]
    /// The first day with a list, if there is one.
    public var firstDay: CalendarDay?
    /// The last day with a list at present; `nil` is today.
    public var lastDay: CalendarDay?
    /// Whether it can search for titles.
    public var searches: Bool

    public init(
        hasLists: Bool = true, periods: [TitleQuery.Period] = [], firstDay: CalendarDay? = nil, lastDay: CalendarDay? = nil,
        searches: Bool = true
    ) {
        self.hasLists = hasLists
        self.periods = periods
        self.firstDay = firstDay
        self.lastDay = lastDay
        self.searches = searches
    }
}

/// Titles whose posters may have changed.
public enum TitleChanges: Sendable, Equatable {
    case none
    /// Titles with these ids, which were added, removed or changed.
    case titles([String])
    /// Any title.
    case all
}
