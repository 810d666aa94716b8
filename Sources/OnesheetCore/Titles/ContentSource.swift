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

    /// The languages in which images are wanted, in order of preference, unless a request names its own; `nil` by default, which prefers none.
    /// The configuration of every source has them as `languages`, so a plugin needs no property of its own.
    var languages: LanguageList? { get }

    /// The sources that this one is made of, first the one whose ids it has; empty by default. They are asked by themselves, so their answers are
    /// cached and not those that are made of them; and an image is fetched by the rules of the member that has it (`CandidateFacts.source`).
    var members: [SourceMember] { get }

    /// The quotas of the services that the source asks; empty by default. The server shows them. Must not cost a call.
    func quotas() async -> [QuotaReport]

    /// The canonical spelling of `id`. Ids that stand for the same picture, or for none, may have one spelling and then share their
    /// variants. Must be cheap. The default returns `id`.
    func canonicalID(_ id: String) -> String

    /// The canonical id of the picture at `url`, which the allow-list of `originPolicy` contains. The default asks `canonicalID(_:)` with
    /// its text; a source whose ids are URLs need not parse and check it again.
    func canonicalID(of url: WebURL) -> String

    /// The canonical id of the picture that is this object of a bucket, as in `s3://bucket/object`; `nil`, the default, if the source does not have
    /// it. Must be cheap.
    func canonicalID(ofObject name: String, in bucket: String) -> String?

    /// Whether `id` is that of another database, so that the source has to ask for its own (`ownID(of:)`). Must be cheap. `false` by default.
    func isForeign(_ id: String) -> Bool

    /// The source's own id of the title that `id`, an id of another database, means. The server asks once a day, and both ids share their
    /// images. The default returns `id`.
    /// - Throws: `SourceError`: `.notFound` if there is no such title.
    func ownID(of id: String) async throws(SourceError) -> String

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

    /// Possible places of the originals of the title's poster and of its other images (`CandidateFacts.kind`), best first; empty if there are
    /// none.
    /// - Throws: `SourceError`: `.notFound` if there is no such title.
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate]

    /// The candidates of an id that says by itself where its image is, such as the path of a file. They cost no call, so nothing is asked
    /// and cached. `nil` (default): `candidates(for:)` knows.
    func candidates(namedBy id: String) -> [PosterCandidate]?

    /// The names of the genres in a language, by ids that mean the same in all of them; empty by default. The server asks once a day for a
    /// language, and only if `capabilities.namesGenres`. It finds the genres of a title by the names that they have there.
    /// - Parameter language: `nil` is the one in which titles have their `genres`.
    func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String]

    /// The answer of the source's service to a question of a client that takes this server for the service. Not supported by default.
    /// - Throws: `SourceError`. A refusal that is about the question is an answer.
    func answer(to question: ServiceQuestion) async throws(SourceError) -> ServiceAnswer

    /// Ends the work that the source has started, such as programs, and returns when it has ended. Called when the server or the command
    /// ends. The task is cancelled when the time for that is over (`shutdown.deadline`); a second signal to the server calls it once more, in
    /// a task that is cancelled. The default does nothing.
    ///
    /// A reload does not call it: the previous source is released after its last request, so `deinit` ends such work too.
    func shutdown() async
}

extension ContentSource {
    public var isVersioned: Bool { false }
    public var asksService: Bool { true }
    public var capabilities: SourceCapabilities { SourceCapabilities() }
    public var languages: LanguageList? { nil }
    public var members: [SourceMember] { [] }
    public func quotas() async -> [QuotaReport] { [] }
    public func canonicalID(_ id: String) -> String { id }
    public func canonicalID(of url: WebURL) -> String { canonicalID(url.description) }
    public func canonicalID(ofObject name: String, in bucket: String) -> String? { nil }
    public func isForeign(_ id: String) -> Bool { false }
    public func ownID(of id: String) async throws(SourceError) -> String { id }
    public func changes() async throws(SourceError) -> TitleChanges? { nil }
    public func candidates(namedBy id: String) -> [PosterCandidate]? { nil }
    public func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] { [:] }
    public func answer(to question: ServiceQuestion) async throws(SourceError) -> ServiceAnswer {
        throw .unsupported("questions to its service")
    }
    public func shutdown() async {}
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
    /// The names of its other lists, and forms of such names: `popular`, `collection-{number}`. Other names are refused.
    public var lists: [String]
    /// Whether it can search for titles.
    public var searches: Bool
    /// The databases whose ids it takes. Its own ids are those of the first one. Empty if they mean nothing elsewhere.
    public var ids: [DatabaseIDs]
    /// Whether it knows the names of genres in several languages (`genres(in:)`).
    public var namesGenres: Bool
    /// The language of the genres of its titles; `nil` if it is not known.
    public var genreLanguage: LanguageTag?

    public init(
        hasLists: Bool = true, periods: [TitleQuery.Period] = [], firstDay: CalendarDay? = nil, lastDay: CalendarDay? = nil,
        lists: [String] = [], searches: Bool = true, ids: [DatabaseIDs] = [], namesGenres: Bool = false,
        genreLanguage: LanguageTag? = nil
    ) {
        self.hasLists = hasLists
        self.periods = periods
        self.firstDay = firstDay
        self.lastDay = lastDay
        self.lists = lists
        self.searches = searches
        self.ids = ids
        self.namesGenres = namesGenres
        self.genreLanguage = genreLanguage
    }

    /// How the source writes `id`, which may begin with the name of its database: `imdb:tt0137523`. Other texts stay as they are.
    package func written(_ id: String) -> String {
        guard let (database, rest) = id.cut(at: ":"), let form = ids.first(where: { database.isExactly($0.database) }) else {
            return id
        }
        return form == ids.first && form.prefix.isEmpty ? String(rest) : form.written(String(rest)) ?? id
    }

    private static let longestListName = 256

    /// Why the source has no list of this name; `nil` if it may have one. Whether a name has a form in all is for the source to say.
    package func problem(ofList name: String) -> String? {
        let isKnown = lists.contains { known in
            guard let (start, rest) = known.cut(at: "{"), let (_, end) = rest.cut(atLast: "}") else { return known.isExactly(name) }
            return name.utf8.count > start.utf8.count + end.utf8.count && name.starts(withBytesOf: start)
                && name.ends(withBytesOf: end)
        }
        guard !isKnown || name.utf8.count > Self.longestListName else { return nil }
        return unknownName(name.shortened(to: 64), kind: "list", known: lists)
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
