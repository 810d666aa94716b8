/// One item of a source: a film.
public struct Title: Sendable, Equatable, Codable {
    /// Unique and stable within the source.
    public var id: String
    /// What people call it.
    public var name: String
    public var originalName: String?
    public var overview: String?
    public var releaseDate: CalendarDay?
    /// Place in the list that it came with, from 1.
    public var rank: Int?
    /// What else the source knows, under its own words.
    public var metadata: [String: JSONValue]

    public init(
        id: String, name: String, originalName: String? = nil, overview: String? = nil, releaseDate: CalendarDay? = nil,
        rank: Int? = nil, metadata: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.name = name
        self.originalName = originalName
        self.overview = overview
        self.releaseDate = releaseDate
        self.rank = rank
        self.metadata = metadata
    }
}

/// Which titles are wanted.
public struct TitleQuery: Sendable, Hashable {
    public enum Period: String, Sendable, Hashable, CaseIterable, Codable {
        case day, week, weekend, weekdays

        /// The last day of the newest period of this kind that is over on `day`.
        public func lastComplete(until day: CalendarDay) -> CalendarDay {
            let last = self == .weekdays ? 4 : 7
            return self == .day ? day : day.adding(days: -((day.weekday - last + 7) % 7))
        }
    }

    /// The list of this day; `nil` is the source's newest.
    public var date: CalendarDay?
    /// What the list sums up, where the source keeps lists by day.
    public var period: Period
    /// Words to search for; `nil` is the source's list.
    public var phrase: String?
    /// From 1.
    public var page: Int

    public init(date: CalendarDay? = nil, period: Period = .day, phrase: String? = nil, page: Int = 1) {
        precondition(page >= 1, "pages count from 1")
        self.date = date
        self.period = period
        self.phrase = phrase
        self.page = page
    }
}

/// One page of titles.
public struct TitlePage: Sendable, Equatable, Codable {
    public var titles: [Title]
    /// How many there are on all pages together, where the source says.
    public var total: Int?
    /// The next page's number, where there is one.
    public var next: Int?

    public init(titles: [Title], total: Int? = nil, next: Int? = nil) {
        (self.titles, self.total, self.next) = (titles, total, next)
    }
}
