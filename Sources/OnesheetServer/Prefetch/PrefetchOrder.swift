import FoundationEssentials
package import OnesheetAddress
package import OnesheetCore
import OnesheetPipeline

/// What to prefetch, in the words of the command line, of the configuration and of the HTTP interface.
package struct PrefetchOrder: Codable, Hashable, Sendable {
    /// More days than any box office has.
    package static let maxDays = 10_000

    package var source: String
    /// Titles by id; empty takes the source's lists.
    package var ids: [String] = []
    /// The days whose lists to take; empty is the source's newest.
    package var dates: [CalendarDay] = []
    /// Words to search for instead of a list.
    package var query: String?
    package var sizes = PrefetchConfiguration.usualSizes
    package var formats = PrefetchConfiguration.usualFormats

    package init(
        source: String, ids: [String] = [], dates: [CalendarDay] = [], query: String? = nil,
        sizes: [String] = PrefetchConfiguration.usualSizes, formats: [String] = PrefetchConfiguration.usualFormats
    ) {
        (self.source, self.ids, self.dates, self.query) = (source, ids, dates, query)
        (self.sizes, self.formats) = (sizes, formats)
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

    /// The titles, each once, and the transforms that this order means.
    /// - Throws: before any source is asked, where a size or a format is not known.
    package func resolve(_ installation: Installation) async throws -> (titles: [TitleReference], transforms: [Transform]) {
        let transforms = try transforms(installation.options)
        guard installation.configuration.sources[source] != nil else {
            throw PipelineError.unknownSource(source, known: installation.configuration.sourceNames)
        }
        let ids = self.ids.isEmpty ? try await listed(installation.catalog) : self.ids
        var seen: Set<TitleReference> = []
        let titles = ids.map { TitleReference(source: source, id: $0).canonical(in: installation.sources) }
        return (titles.filter { seen.insert($0).inserted }, transforms)
    }

    package func transforms(_ options: ImageOptions) throws(RequestError) -> [Transform] {
        try options.transforms(sizes: sizes, formats: formats)
    }

    private func listed(_ catalog: Catalog) async throws(PipelineError) -> [String] {
        var ids: [String] = []
        var listing = TitleListing(of: source, in: catalog)
        let days: [CalendarDay?] = dates.isEmpty ? [nil] : dates
        for day in days { ids += try await listing.ids(TitleQuery(date: day, phrase: query)) }
        return ids
    }
}

/// Orders are equal where their bytes are: ids that only look the same are two.
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
