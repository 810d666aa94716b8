import FoundationEssentials
package import OnesheetAddress
import OnesheetCore
package import OnesheetPipeline

/// A prefetch order from the command line, the configuration or the HTTP interface.
package struct PrefetchOrder: Codable, Hashable, Sendable {
    /// The maximum number of days in one order. Longer than the history of any box office.
    package static let maxDays = 10_000

    package var source: String
    /// Title ids. If empty, the source's lists are used.
    package var ids: [String]
    /// The days of the lists. If empty, the source's newest list is used.
    package var dates: [CalendarDay]
    /// The name of a list, used instead of the source's own.
    package var list: String?
    /// A search phrase, used instead of a list.
    package var query: String?
    package var sizes: [String]
    package var formats: [String]
    /// The queries of clients' questions about each title and the list, whose answers are asked for.
    package var answers: [String]?

    package init(
        source: String, ids: [String] = [], dates: [CalendarDay] = [], list: String? = nil, query: String? = nil,
        sizes: [String] = PrefetchConfiguration.defaultSizes, formats: [String] = PrefetchConfiguration.defaultFormats,
        answers: [String]? = nil
    ) {
        self.source = source
        self.ids = ids
        self.dates = dates
        self.list = list
        self.query = query
        self.sizes = sizes
        self.formats = formats
        self.answers = answers
    }

    /// The keys with which a client names titles.
    package enum TitleKey: String {
        case date, from, to, ids, list, query
    }

    /// The order of a client, which names titles in at most one way: `date`, `from` with `to`, `ids`, `list` or `query`. If it
    /// names none, the order is for the newest list.
    /// - Parameter name: the client's spelling of a key, for the error.
    /// - Throws: `RequestError` if the client names titles in several ways, or if `from` and `to` are not a range of days.
    package init(
        source: String, date: CalendarDay?, from: CalendarDay?, to: CalendarDay?, ids: [String], list: String?, query: String?,
        sizes: [String], formats: [String], naming name: (TitleKey) -> String
    ) throws(RequestError) {
        guard (from == nil) == (to == nil) else { throw .malformed("use \(name(.from)) and \(name(.to)) together") }
        var ways: [String] = []
        if date != nil { ways.append(name(.date)) }
        if from != nil { ways.append("\(name(.from)) with \(name(.to))") }
        if !ids.isEmpty { ways.append(name(.ids)) }
        if list != nil { ways.append(name(.list)) }
        if query != nil { ways.append(name(.query)) }
        guard ways.count <= 1 else {
            throw .malformed("\(ways.dropLast().joined(separator: ", ")) and \(ways[ways.count - 1]) cannot be combined")
        }
        self.init(
            source: source, ids: ids, dates: date.map { [$0] } ?? [], list: list, query: query, sizes: sizes,
            formats: formats)
        if let from, let to { dates = try Self.days(from: from, to: to) }
    }

    /// The days from `first` to `last`, inclusive.
    /// - Throws: `RequestError` if `last` is before `first`, or if there are more than `maxDays`.
    package static func days(from first: CalendarDay, to last: CalendarDay) throws(RequestError) -> [CalendarDay] {
        guard first <= last else {
            throw .bad(option: "to", value: last.description, reason: "is before \(first)")
        }
        let days = sequence(first: first) { $0 < last ? $0.adding(days: 1) : nil }.prefix(Self.maxDays + 1)
        let all = Array(days)
        guard all.count <= Self.maxDays else {
            throw .bad(option: "to", value: last.description, reason: "is more than \(Self.maxDays) days after \(first)")
        }
        return all
    }

    /// The titles of this order.
    package var selection: Prefetcher.Selection {
        Prefetcher.Selection(source: source, ids: ids, dates: dates, list: list, phrase: query, answers: answers ?? [])
    }

    /// The variants for every size in every format.
    /// - Throws: `RequestError` with the first unknown size or format.
    package func variants(_ options: ImageOptions) throws(RequestError) -> [ImageVariant] {
        try options.variants(sizes: sizes, formats: formats)
    }
}

/// Compares bytes: ids that only look the same are different.
extension PrefetchOrder {
    private var exact: [[ExactText]] {
        [
            [ExactText(source)], ids.map { ExactText($0) }, list.map { [ExactText($0)] } ?? [], query.map { [ExactText($0)] } ?? [],
            sizes.map { ExactText($0) },
            formats.map { ExactText($0) }, (answers ?? []).map { ExactText($0) },
        ]
    }

    package static func == (left: Self, right: Self) -> Bool { left.dates == right.dates && left.exact == right.exact }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(dates)
        hasher.combine(exact)
    }
}

extension PrefetchConfiguration {
    /// The order for a run at `moment`.
    func order(at moment: Date) -> PrefetchOrder {
        let day = CalendarDay(moment, secondsFromGMT: zone)
        let dates =
            switch date {
            case .newest: [CalendarDay]()
            case .today: [day]
            case .yesterday: [day.adding(days: -1)]
            }
        return PrefetchOrder(
            source: source, dates: dates, list: list, sizes: sizes, formats: formats, answers: answers.isEmpty ? nil : answers)
    }
}
