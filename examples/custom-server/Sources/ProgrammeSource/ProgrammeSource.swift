public import OnesheetCore

/// The programme of a cinema: films by day, with their show times. Another source, which is configured inside this one, has the
/// films and their posters.
public struct ProgrammeSource: SourcePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The source of the films, with the ids in `shows`.
        public var films: NestedSource
        public var shows: [Show]

        public init(films: NestedSource, shows: [Show]) { (self.films, self.shows) = (films, shows) }
    }

    /// The show times of a film on a day.
    public struct Show: Decodable, Sendable {
        public var day: CalendarDay
        public var film: String
        public var at: [String]

        public init(day: CalendarDay, film: String, at: [String]) { (self.day, self.film, self.at) = (day, film, at) }
    }

    public static let type = "programme"

    public static let sampleConfiguration = """
        type: programme
        # The source that knows the films: of any type, configured as it is on its own.
        films: { type: sample }
        # Which of its films are shown on a day, and when.
        shows:
          - { day: 2026-11-27, film: "3", at: ["18:00", "20:30"] }
          - { day: 2026-11-27, film: "7", at: ["22:45"] }
          - { day: 2026-11-28, film: "3", at: ["20:30"] }
        """

    private let films: any ContentSource
    private let shows: [Show]

    /// The other source's policy applies, because its pictures are fetched.
    public var originPolicy: OriginPolicy { films.originPolicy }
    public var isVersioned: Bool { films.isVersioned }
    /// The ids and the changes of posters are those of the other source.
    public func changes() async throws(SourceError) -> TitleChanges? { try await films.changes() }

    /// - Throws: `ConfigurationError` if the source of the films cannot be made.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        films = try context.source(configuration.films)
        shows = configuration.shows
    }

    /// The films of a day, or of all days, ordered by their first show in the list.
    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        guard query.period == .day else { throw .unsupported("lists by week") }
        var titles: [Title] = []
        for show in shows where query.date == nil || query.date == show.day {
            if titles.contains(where: { $0.id == show.film }) { continue }
            let film = try await title(show.film)
            if let phrase = query.phrase, !film.name.lowercased().contains(phrase.lowercased()) { continue }
            titles.append(film)
        }
        return TitlePage(titles: query.page == 1 ? titles : [], total: titles.count)
    }

    /// The film of the other source, with the show times by day.
    public func title(_ id: String) async throws(SourceError) -> Title {
        var film = try await films.title(try shown(id))
        let times = Dictionary(shows.filter { $0.film == id }.map { ($0.day.description, $0.at) }, uniquingKeysWith: +)
        film.metadata["shows"] = .object(times.mapValues { .array($0.map(JSONValue.string)) })
        return film
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        try await films.candidates(for: try shown(id))
    }

    /// The id of a film in the programme. Other films are not titles of this source.
    private func shown(_ id: String) throws(SourceError) -> String {
        guard shows.contains(where: { $0.film == id }) else { throw .notFound(id: id) }
        return id
    }
}
