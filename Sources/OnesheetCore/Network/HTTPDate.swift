package import FoundationEssentials

/// Parses and formats HTTP dates (RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// Parses the current format or one of the two obsolete formats.
    /// - Parameter now: determines the century of a two-digit year.
    package static func parse(_ text: String, now: Date) -> Date? {
        let (space, comma, dash) = (UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: "-"))
        // Comparisons of other text can take long (`isStreamSafe`).
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let words = text.utf8.split { $0 == space || $0 == comma || $0 == dash }.map { String(decoding: $0, as: UTF8.self) }
        // Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT
        if words.count == 6, words[5] == "GMT" {
            return moment(day: words[1], month: words[2], year: fullYear(words[3], now: now), time: words[4])
        }
        // Sun Nov  6 08:49:37 1994
        if words.count == 5 { return moment(day: words[2], month: words[1], year: Int(words[4]), time: words[3]) }
        return nil
    }

    /// Formats `date` in the current format.
    package static func text(_ date: Date) -> String {
        // Clamp to years of four digits, the range of the format.
        let seconds = Int(min(max(date.timeIntervalSince1970.rounded(.down), -11_676_096_000), 253_402_300_799))
        let (day, second) = (seconds.floorDivided(by: 86_400), seconds - seconds.floorDivided(by: 86_400) * 86_400)
        let (year, month, dayOfMonth) = civil(day)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[((day + 4) % 7 + 7) % 7]), \(two(dayOfMonth)) \(months[month - 1]) \(year) "
            + "\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60)) GMT"
    }

    private static func fullYear(_ text: String, now: Date) -> Int? {
        guard let year = Int(text), text.utf8.count == 2 || text.utf8.count == 4 else { return nil }
        guard text.utf8.count == 2 else { return year }
        // A two-digit year more than fifty years ahead is in the past (RFC 9110 §5.6.7).
        let present = civil(Int(min(max(0, now.timeIntervalSince1970), 253_402_300_799)) / 86_400).year
        let candidate = present / 100 * 100 + year
        return candidate > present + 50 ? candidate - 100 : candidate
    }

    private static func moment(day: String, month: String, year: Int?, time: String) -> Date? {
        let parts = time.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { $0.count == 2 ? Int(String(decoding: $0, as: UTF8.self)) : nil }
        guard let day = Int(day), (1...31).contains(day), let month = months.firstIndex(of: month), let year,
            (1600...9999).contains(year),
            parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
            case let number = dayNumber(year: year, month: month + 1, day: day), civil(number) == (year, month + 1, day)
        else { return nil }
        return Date(timeIntervalSince1970: Double(number * 86_400 + hour * 3600 + minute * 60 + second))
    }

    /// Days since 1970-01-01, after Hinnant's algorithm for the Gregorian calendar. Years begin in March, so that a leap day is the
    /// last day.
    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year.floorDivided(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int {
    fileprivate func floorDivided(by divisor: Int) -> Int { self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor) }
}
