import OnesheetAddress
import OnesheetCore
import OnesheetPipeline

/// A prefetch as the command line, the configuration and the HTTP interface name it.
struct PrefetchOrder: Codable, Hashable, Sendable {
    static let usualSizes = ["w185", "w342"]
    static let usualFormats = ["jpg"]
    /// The most days in one order; longer than the history of any box office.
    static let maxDays = 10_000

    var source: String
    /// Titles by id; empty takes the source's lists.
    var ids: [String] = []
    /// The days whose lists to take; empty is the source's newest list.
    var dates: [CalendarDay] = []
    /// A search instead of a list.
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

    /// The titles that this order names.
    var selection: Prefetcher.Selection { Prefetcher.Selection(source: source, ids: ids, dates: dates, phrase: query) }

    /// Every size in every format.
    /// - Throws: `RequestError` with the first unknown size or format.
    func transforms(_ options: ImageOptions) throws(RequestError) -> [Transform] {
        var transforms: [Transform] = []
        // Each name once: the product of two lists from outside would be without a limit.
        for size in Self.once(sizes) {
            for format in Self.once(formats) {
                var transform = try SizeLadder.transform(size)
                transform.format = try options.format(format)
                transforms.append(transform)
            }
        }
        return transforms
    }

    private static func once(_ names: [String]) -> [String] {
        var seen: Set<ExactText> = []
        return names.filter { seen.insert(ExactText($0)).inserted }
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

    static func == (left: Self, right: Self) -> Bool { left.dates == right.dates && left.exact == right.exact }

    func hash(into hasher: inout Hasher) {
        hasher.combine(dates)
        hasher.combine(exact)
    }
}
