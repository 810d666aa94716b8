import FoundationEssentials
import OnesheetAddress
import OnesheetCore
import OnesheetPipeline

/// One line of the prefetch schedule.
package struct PrefetchConfiguration: Sendable, ConfigurationSection, Hashable {
    /// The day of the list, relative to the day of the prefetch.
    package enum ListDay: String, Sendable, SettingWord {
        package static let noun = "day"
        case today, yesterday, newest
    }

    /// The default sizes and formats of a prefetch.
    package static let defaultSizes = ["w185", "w342"]
    package static let defaultFormats = ["jpg"]

    /// Seconds after midnight.
    package private(set) var at = 0
    package private(set) var zone = 0
    package private(set) var date = ListDay.newest
    /// The name of a list, used instead of that of `date`.
    package private(set) var list: String?
    package private(set) var source = ""
    package private(set) var sizes = PrefetchConfiguration.defaultSizes
    package private(set) var formats = PrefetchConfiguration.defaultFormats
    /// The queries of clients' questions.
    package private(set) var answers: [String] = []

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("at", \.time, isRequired: true, meaning: "time of day of the prefetch"),
            Setting("timeZone", \.zone, as: WrittenZone.self, meaning: "time zone of `at`, `today` and `yesterday`"),
            Setting("source", \.source, isRequired: true, meaning: "source of the list"),
            Setting("date", \.date, meaning: "day of the list"),
            Setting(
                "list", \.list, defaultText: "none",
                meaning: "name of a list instead of that of a day, such as `popular` of TMDB"),
            Setting("sizes", \.sizes, meaning: "sizes of the ladder; `w780.backdrop` is that of another image"),
            Setting("formats", \.formats, meaning: "file extensions; `auto` is for clients that prefer no format"),
            Setting(
                "answers", \.answers,
                meaning:
                    "queries with which clients ask about a title, such as `language=de-DE`, to get these answers and make the images that they name, too (TMDB)"
            ),
        ]
    }

    private var time: TimeOfDay {
        get { TimeOfDay(seconds: at) }
        set { at = newValue.seconds }
    }

    /// Checks the line at the start, not when it is due.
    /// - Parameters:
    ///   - capabilities: those of its source; `nil` if they are not known, because that has errors.
    ///   - dialects: all; `nil` if one has errors.
    ///   - index: the line's position in the schedule.
    func check(
        with options: ImageOptions, _ capabilities: SourceCapabilities?, _ dialects: [any Dialect]?, at index: Int
    ) throws(ConfigurationError) {
        let path = "prefetch.[\(index)]"
        if list != nil, date != .newest {
            throw ConfigurationError(path: "\(path).list", message: "cannot be combined with “date”")
        }
        do {
            _ = try options.variants(sizes: sizes, formats: formats)
        } catch {
            throw ConfigurationError(path: path, message: "\(error)")
        }
        if let list, let problem = capabilities?.problem(ofList: list) {
            throw ConfigurationError(path: "\(path).list", message: problem)
        }
        do throws(Failure) {
            if let dialects { _ = try PrefetchQuestions(Prefetcher.Selection(source: source, answers: answers), in: dialects) }
        } catch {
            throw ConfigurationError(path: "\(path).answers", message: error.message)
        }
    }

    /// The latest due time that is not after `now`.
    func due(until now: Date) -> Date {
        let today = CalendarDay(now, secondsFromGMT: zone).start(secondsFromGMT: zone).addingTimeInterval(Double(at))
        return today <= now ? today : today.addingTimeInterval(-86_400)
    }

    /// Identifies the schedule line across restarts.
    var name: String {
        "\(source) \(list.map { "list=\($0)" } ?? date.rawValue) \(at) \(zone) \(sizes.joined(separator: ",")) "
            + formats.joined(separator: ",") + answers.map { " \($0)" }.joined()
    }
}

/// A time of day such as `06:00`.
private struct TimeOfDay: SettingValue, CustomStringConvertible {
    static let kind = "`HH:MM`"

    let seconds: Int

    init(seconds: Int) { self.seconds = seconds }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard text.utf8.count == 5, parts.count == 2, let hour = parts[0], let minute = parts[1], (0..<24).contains(hour),
            (0..<60).contains(minute)
        else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” is not a time of day such as 06:00")
        }
        seconds = hour * 3600 + minute * 60
    }

    var description: String { hoursAndMinutes(seconds) }
}

/// An offset from UTC such as `+09:00`, stored in seconds.
private struct WrittenZone: WrittenSetting, CustomStringConvertible {
    static let kind = "offset"

    let stored: Int

    init(_ seconds: Int) { stored = seconds }
    init(from decoder: any Decoder) throws { stored = try ZoneOffset(from: decoder).seconds }

    var description: String { (stored < 0 ? "-" : "+") + hoursAndMinutes(abs(stored)) }
}

private func hoursAndMinutes(_ seconds: Int) -> String {
    [seconds / 3600, seconds / 60 % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
}
