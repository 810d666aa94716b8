import FoundationEssentials
import OnesheetCore

/// One line of the schedule: what to prefetch each day, and when.
package struct PrefetchConfiguration: Sendable, Decodable, Hashable {
    /// Which day's list, seen from the day on which it is prefetched.
    package enum ListDay: String, Sendable, Decodable {
        case today, yesterday, newest
    }

    /// Seconds after midnight.
    package let at: Int
    package let zone: Int
    package let date: ListDay
    package let source: String
    package let sizes: [String]
    package let formats: [String]

    private enum CodingKeys: CodingKey { case at, timeZone, source, date, sizes, formats }

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        let text = try keys.decode(String.self, forKey: .at)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard text.utf8.count == 5, parts.count == 2, let hour = parts[0], let minute = parts[1], (0..<24).contains(hour),
            (0..<60).contains(minute)
        else { throw ConfigurationError(path: "at", message: "“\(text)” is not a time of day such as 06:00") }
        at = hour * 3600 + minute * 60
        zone = try keys.decodeIfPresent(ZoneOffset.self, forKey: .timeZone)?.seconds ?? 0
        date = try keys.decodeIfPresent(ListDay.self, forKey: .date) ?? .newest
        source = try keys.decode(String.self, forKey: .source)
        sizes = try keys.decodeIfPresent([String].self, forKey: .sizes) ?? PrefetchOrder.usualSizes
        formats = try keys.decodeIfPresent([String].self, forKey: .formats) ?? PrefetchOrder.usualFormats
    }

    /// The last moment up to `now` at which this was due.
    func due(until now: Date) -> Date {
        let today = CalendarDay(now, secondsFromGMT: zone).start(secondsFromGMT: zone).addingTimeInterval(Double(at))
        return today <= now ? today : today.addingTimeInterval(-86_400)
    }

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

    /// Tells lines of the schedule apart, over restarts.
    var name: String {
        "\(source) \(date.rawValue) \(at) \(zone) \(sizes.joined(separator: ",")) \(formats.joined(separator: ","))"
    }
}
