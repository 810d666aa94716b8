import FoundationEssentials
import OnesheetCore

/// For how long an answer of TMDB is fresh.
enum TMDBFreshness {
    /// What decides.
    private enum Rule {
        case minutes(Int)
        case hours(Int)
        /// The age of the newest of the days at these keys: an hour for what is from the last month or comes, a day for a year, a month later.
        case age(of: [String])
    }

    /// The rule for each path, of which the first applies. `#` stands for a number, and a path is the beginning of longer ones unless it ends
    /// in `$`.
    private static let rules: [(path: String, rule: Rule)] = [
        ("movie/#/$", .age(of: ["release_date"])),
        ("tv/#/$", .age(of: ["last_air_date", "first_air_date"])),
        ("tv/#/season/#/$", .age(of: ["air_date"])),
        ("tv/#/season/#/episode/#/$", .age(of: ["air_date"])),
        ("movie/#/changes/", .minutes(10)), ("tv/#/changes/", .minutes(10)), ("person/#/changes/", .minutes(10)),
        ("movie/changes/", .minutes(10)), ("tv/changes/", .minutes(10)), ("person/changes/", .minutes(10)),
        ("movie/latest/", .minutes(10)), ("tv/latest/", .minutes(10)), ("person/latest/", .minutes(10)),
        ("movie/#/", .hours(24)), ("tv/#/", .hours(24)), ("person/#/", .hours(24)), ("collection/#/", .hours(24)),
        ("company/#/", .hours(24)), ("network/#/", .hours(24)), ("keyword/#/", .hours(24)), ("find/", .hours(24)),
        ("configuration/", .hours(24)), ("genre/", .hours(24)), ("certification/", .hours(24)), ("watch/", .hours(24)),
        // Lists, searches, and what else there is.
        ("", .hours(1)),
    ]

    /// - Parameter path: the segments behind `/3/`.
    static func seconds(of document: JSONValue, at path: [String], _ now: Date) -> Double {
        let text = path.map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? "#/" : "\($0)/" }.joined()
        let rule = rules.first { "\(text)$".starts(withBytesOf: $0.path) }?.rule
        return switch rule {
        case .minutes(let minutes): Double(minutes) * 60
        case .hours(let hours): Double(hours) * 3600
        case .age(let keys): seconds(of: document, keys, now)
        case nil: 3600
        }
    }

    private static func seconds(of document: JSONValue, _ keys: [String], _ now: Date) -> Double {
        guard case .object(let members) = document else { return 3600 }
        let days = keys.compactMap { key -> CalendarDay? in
            guard case .string(let text)? = members[key] else { return nil }
            return CalendarDay(text)
        }
        guard let newest = days.max() else { return 3600 }
        let today = CalendarDay(now, secondsFromGMT: 0)
        if newest > today.adding(days: -31) { return 3600 }
        // A show that goes on gets its next episode.
        let goesOn = members["in_production"] == .bool(true)
        return newest > today.adding(days: -365) || goesOn ? 86_400 : 30 * 86_400
    }
}
