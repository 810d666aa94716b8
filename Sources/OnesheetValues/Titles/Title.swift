/// One item of a source: a film.
public struct Title: Sendable, Equatable, Codable {
    /// Unique and stable within the source.
    public var id: String
    /// The display name.
    public var name: String
    /// The name in the original language.
    public var originalName: String?
    /// The language in which the title was made.
    public var originalLanguage: LanguageTag?
    /// A summary of the plot.
    public var overview: String?
    /// The day of the release.
    public var releaseDate: CalendarDay?
    /// Rank in the list of the title, from 1.
    public var rank: Int?
    /// Its ids in other databases, and in the source's own, by the name of the database: `imdb`, `tmdb`, `tvdb`, `kobis`, `kmdb`, `trakt`,
    /// `anilist`, `wikidata`.
    public var ids: [String: String]
    /// Further data under the source's own names.
    public var metadata: [String: JSONValue]
    /// Its texts in further languages. Responses have those of the wanted languages in their place.
    public var translations: [LanguageTag: TitleTexts]

    public init(
        id: String, name: String, originalName: String? = nil, originalLanguage: LanguageTag? = nil, overview: String? = nil,
        releaseDate: CalendarDay? = nil, rank: Int? = nil, ids: [String: String] = [:], metadata: [String: JSONValue] = [:],
        translations: [LanguageTag: TitleTexts] = [:]
    ) {
        self.id = id
        self.name = name
        self.originalName = originalName
        self.originalLanguage = originalLanguage
        self.overview = overview
        self.releaseDate = releaseDate
        self.rank = rank
        self.ids = ids
        self.metadata = metadata
        self.translations = translations
    }
}

/// The titles to list.
public struct TitleQuery: Sendable, Hashable {
    /// The period that a list sums up, such as the films of a weekend.
    public enum Period: String, Sendable, Hashable, CaseIterable, Codable {
        case day, week, weekend, weekdays

        /// The last day of the newest complete period of this kind at `day`.
        public func lastComplete(until day: CalendarDay) -> CalendarDay {
            let last = self == .weekdays ? 4 : 7
            return self == .day ? day : day.adding(days: -((day.weekday - last + 7) % 7))
        }
    }

    /// The list of this day; `nil` is the source's newest.
    public var date: CalendarDay?
    /// The period of the list, if the source has lists by date.
    public var period: Period
    /// The name of another list of the source, such as `popular`; `nil` is its own.
    public var list: String?
    /// Words to search for; `nil` asks for the list.
    public var phrase: String?
    /// From 1.
    public var page: Int

    public init(
        date: CalendarDay? = nil, period: Period = .day, list: String? = nil, phrase: String? = nil, page: Int = 1
    ) {
        precondition(page >= 1, "pages count from 1")
        self.date = date
        self.period = period
        self.list = list
        self.phrase = phrase
        self.page = page
    }
}

/// One page of titles.
public struct TitlePage: Sendable, Equatable, Codable {
    /// The titles in the order of the source.
    public var titles: [Title]
    /// The number of titles on all pages, if the source reports it.
    public var total: Int?
    /// The number of the next page, if there is one.
    public var next: Int?

    public init(titles: [Title], total: Int? = nil, next: Int? = nil) {
        self.titles = titles
        self.total = total
        self.next = next
    }
}
