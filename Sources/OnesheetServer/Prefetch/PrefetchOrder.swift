import OnesheetAddress
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
        var seen: Set<TitleReference> = []
        let titles = ids.map { TitleReference(source: source, id: $0).canonical(in: installation.sources) }
        return (titles.filter { seen.insert($0).inserted }, transforms)
    }

    func transforms(_ options: ImageOptions) throws(RequestError) -> [Transform] {
        var transforms: [Transform] = []
        // Each name once: a list of a megabyte times another one is more than anybody means.
        for size in Self.once(sizes) {
            for format in Self.once(formats) {
                var transform = try SizeLadder.transform(size)
                transform.format = try options.format(format)
                transforms.append(transform)
            }
        }
        return transforms
    }

    private func listed(_ catalog: Catalog) async throws(PipelineError) -> [String] {
        var ids: [String] = []
        var listing = TitleListing(of: source, in: catalog)
        let days: [CalendarDay?] = dates.isEmpty ? [nil] : dates
        for day in days { ids += try await listing.ids(TitleQuery(date: day, phrase: query)) }
        return ids
    }

    private static func once(_ names: [String]) -> [String] {
        var seen: Set<ExactText> = []
        return names.filter { seen.insert(ExactText($0)).inserted }
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

    static func == (left: Self, right: Self) -> Bool { left.dates == right.dates && left.exact == right.exact }

    func hash(into hasher: inout Hasher) {
        hasher.combine(dates)
        hasher.combine(exact)
    }
}
