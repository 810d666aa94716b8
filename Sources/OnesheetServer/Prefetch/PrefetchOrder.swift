import FoundationEssentials
package import OnesheetAddress
package import OnesheetCore
package import OnesheetPipeline

/// A prefetch as the command line, the configuration and the HTTP interface name it.
package struct PrefetchOrder: Codable, Hashable, Sendable {
    /// The most days in one order; longer than the history of any box office.
    package static let maxDays = 10_000

    package var source: String
    /// Titles by id; empty takes the source's lists.
    package var ids: [String] = []
    /// The days whose lists to take; empty is the source's newest list.
    package var dates: [CalendarDay] = []
    /// A search instead of a list.
    package var query: String?
    package var sizes = PrefetchConfiguration.usualSizes
    package var formats = PrefetchConfiguration.usualFormats

    package init(
        source: String, ids: [String] = [], dates: [CalendarDay] = [], query: String? = nil,
        sizes: [String] = PrefetchConfiguration.usualSizes, formats: [String] = PrefetchConfiguration.usualFormats
    ) {
        self.source = source
        self.ids = ids
        self.dates = dates
        self.query = query
        self.sizes = sizes
        self.formats = formats
    }

    /// The days from `first` to `last`.
    package static func days(from first: CalendarDay, to last: CalendarDay) throws(RequestError) -> [CalendarDay] {
        guard first <= last else {
            throw .bad(option: "to", value: last.description, reason: "lies before \(first)")
        }
        let days = sequence(first: first) { $0 < last ? $0.adding(days: 1) : nil }.prefix(Self.maxDays + 1)
        let all = Array(days)
        guard all.count <= Self.maxDays else {
            throw .bad(option: "to", value: last.description, reason: "is more than \(Self.maxDays) days after \(first)")
        }
        return all
    }

    /// The titles that this order names.
    package var selection: Prefetcher.Selection { Prefetcher.Selection(source: source, ids: ids, dates: dates, phrase: query) }

    /// Every size in every format.
    /// - Throws: `RequestError` with the first unknown size or format.
    package func transforms(_ options: ImageOptions) throws(RequestError) -> [Transform] {
        try options.transforms(sizes: sizes, formats: formats)
    }
}

/// Orders are equal if their bytes are: ids that only look the same are different.
extension PrefetchOrder {
    private var exact: [[ExactText]] {
        [
            [ExactText(source)], ids.map { ExactText($0) }, query.map { [ExactText($0)] } ?? [], sizes.map { ExactText($0) },
            formats.map { ExactText($0) },
        ]
    }

    package static func == (left: Self, right: Self) -> Bool { left.dates == right.dates && left.exact == right.exact }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(dates)
        hasher.combine(exact)
    }
}

extension PrefetchConfiguration {
    /// What is prefetched at `moment`.
    func order(at moment: Date) -> PrefetchOrder {
        let day = CalendarDay(moment, secondsFromGMT: zone)
        let dates =
            switch date {
            case .newest: [CalendarDay]()
            case .today: [day]
            case .yesterday: [day.adding(days: -1)]
            }
        return PrefetchOrder(source: source, dates: dates, sizes: sizes, formats: formats)
    }
}
