import OnesheetCore
import OnesheetPipeline

/// What to prefetch, in the words of the command line, of the configuration and of the HTTP interface.
struct PrefetchOrder: Codable, Hashable, Sendable {
    static let usualSizes = ["w185", "w342"]
    static let usualFormats = ["jpg"]
    /// More days than any box office has.
    static let maxDays = 10_000

    var source: String
    /// Titles by id; empty takes the source's lists.
    var ids: [String] = []
    /// The days whose lists to take; empty is the source's newest.
    var dates: [CalendarDay] = []
    /// Words to search for instead of a list.
    var query: String?
    var sizes = PrefetchOrder.usualSizes
    var formats = PrefetchOrder.usualFormats

    /// The days from `first` to `last`.
    static func days(from first: CalendarDay, to last: CalendarDay) throws(RequestError) -> [CalendarDay] {
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
    func resolve(_ installation: Installation) async throws -> (titles: [TitleReference], transforms: [Transform]) {
        let transforms = try transforms(installation.options)
        guard installation.configuration.sources[source] != nil else {
            throw PipelineError.unknownSource(source, known: installation.configuration.sourceNames)
        }
        let ids = self.ids.isEmpty ? try await listed(installation.catalog) : self.ids
        var seen: Set<String> = []
        return (ids.filter { seen.insert($0).inserted }.map { TitleReference(source: source, id: $0) }, transforms)
    }

    func transforms(_ options: ImageOptions) throws(RequestError) -> [Transform] {
        var transforms: [Transform] = []
        for size in sizes {
            for format in formats {
                var transform = try SizeLadder.transform(size)
                transform.format = try options.format(format)
                transforms.append(transform)
            }
        }
        return transforms
    }

    private func listed(_ catalog: Catalog) async throws(PipelineError) -> [String] {
        var ids: [String] = []
        let days: [CalendarDay?] = dates.isEmpty ? [nil] : dates
        for day in days {
            var query = TitleQuery(date: day, phrase: query)
            while true {
                let page = try await catalog.titles(of: source, query)
                ids += page.titles.map(\.id)
                guard let next = page.next else { break }
                query.page = next
            }
        }
        return ids
    }
}
