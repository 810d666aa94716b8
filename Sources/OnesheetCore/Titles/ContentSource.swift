internal import FoundationEssentials

/// A plugin that knows titles and where each title's original poster is.
public protocol ContentSource: Sendable {
    /// What may be fetched for this source's candidates.
    var originPolicy: OriginPolicy { get }

    /// Whether an id always stands for the same picture, so that a new picture gets a new id; `false` unless a source says so.
    var isVersioned: Bool { get }

    /// Whether answers come from a service, so that each costs a call; `true` unless a source says that it knows them by itself. What
    /// is missing, and where posters are, is remembered for a while only where asking costs something.
    var asksService: Bool { get }

    /// What it can be asked for; without an implementation a list that does not depend on a date, and a search.
    var capabilities: SourceCapabilities { get }

    /// The one spelling of `id`: ids that stand for the same picture, or for none, may have the same one, and then share what is made of
    /// it. Costs nothing; without an implementation an id is spelled as it is.
    func canonicalID(_ id: String) -> String

    /// Which titles may have other posters than when this was last asked, also before a restart; the server asks about every second.
    /// Once it asks again what it was told is settled. `nil`, also without an implementation, is a source whose posters do not change
    /// by themselves: its originals are revalidated when they are stale.
    func changes() async throws(SourceError) -> TitleChanges?

    /// One page of the titles that `query` asks for.
    /// - Throws: `SourceError`, `.unsupported` where this source has no lists or no search.
    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage

    /// The title with all that is known about it.
    /// - Throws: `SourceError`, `.notFound` where there is no such title.
    func title(_ id: String) async throws(SourceError) -> Title

    /// Where the title's original poster may be, best first; empty where it has none.
    /// - Throws: `SourceError`, `.notFound` where there is no such title.
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate]
}

extension ContentSource {
    public var isVersioned: Bool { false }
    public var asksService: Bool { true }
    public var capabilities: SourceCapabilities { SourceCapabilities() }
    public func canonicalID(_ id: String) -> String { id }
    public func changes() async throws(SourceError) -> TitleChanges? { nil }
}

/// Why a source could not answer. The reasons are closed; each carries the value that failed.
public enum SourceError: Error, Sendable, Equatable {
    /// There is no such title.
    case notFound(id: String)
    /// The service refuses the key; `message` is the service's own.
    case unauthorized(message: String)
    /// The budget of calls is used up; it fills again at `until`, in seconds since 1970, where that is known.
    case quotaExhausted(until: Double?)
    /// The service cannot be reached or says that it is out of order.
    case unavailable(reason: String)
    /// The service answered with something that is not what it documents.
    case malformedAnswer(reason: String)
    /// This source does not do that.
    case unsupported(String)
}

extension SourceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notFound(let id): "there is no title “\(id)”"
        case .unauthorized(let message): "the service refuses the key: \(message)"
        case .quotaExhausted(let until):
            "the service's quota is exhausted" + (until.map { "; it fills again at \(Self.moment($0))" } ?? "")
        case .unavailable(let reason): "the service is unavailable: \(reason)"
        case .malformedAnswer(let reason): "the service's answer is malformed: \(reason)"
        case .unsupported(let what): "not supported: \(what)"
        }
    }

    private static func moment(_ seconds: Double) -> String {
        AnswerCheck.calendar.contains(seconds)
            ? Date(timeIntervalSince1970: seconds).formatted(.iso8601) : "a time that no calendar has"
    }
}

extension SourceError {
    /// What a failed request means for a source. Queries are left out of the reason: they carry keys.
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
            self = .unavailable(reason: "\(shown(url)) failed too often, or asked to be left alone, for \(seconds) s")
        case .crowded(let url, let seconds):
            self = .unavailable(reason: "too many requests wait for the host of \(shown(url)), for \(seconds) s")
        case .overloaded(let url):
            self = .unavailable(reason: "there is no memory for the answer of \(shown(url)) at the moment")
        case .failed(let url, let reason):
            self = .unavailable(reason: "\(shown(url)) cannot be fetched: \(reason)")
        }
    }
}
