#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A day of the Gregorian calendar, without a time and a zone: the day of a box office list.
public struct CalendarDay: Hashable, Sendable, Comparable {
    public let year: Int
    public let month: Int
    public let day: Int

    /// Makes a day, or `nil` if the calendar has no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1, day <= Self.days(in: month, of: year)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Parses `yyyyMMdd` or `yyyy-MM-dd`; any other text is `nil`.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let digits: [UInt8]
        switch bytes.count {
        case 8: digits = bytes
        case 10 where bytes[4] == UInt8(ascii: "-") && bytes[7] == UInt8(ascii: "-"):
            digits = Array(bytes[0..<4] + bytes[5..<7] + bytes[8..<10])
        default: return nil
        }
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
        self.init(year: number(0..<4), month: number(4..<6), day: number(6..<8))
    }

    /// The day at `date` in a place `secondsFromGMT` ahead of Greenwich (Seoul: 32,400).
    public init(_ date: Date, secondsFromGMT: Int) {
        let seconds = date.timeIntervalSince1970.rounded(.down) + Double(secondsFromGMT)
        self.init(dayNumber: Int((seconds / 86_400).rounded(.down)))
    }

    /// The day `count` days later, or earlier if `count` is negative.
    public func adding(days count: Int) -> CalendarDay { CalendarDay(dayNumber: dayNumber + count) }

    /// The start of the day in a place `secondsFromGMT` ahead of Greenwich.
    public func start(secondsFromGMT: Int) -> Date {
        Date(timeIntervalSince1970: Double(dayNumber) * 86_400 - Double(secondsFromGMT))
    }

    /// The day of the week (ISO 8601): Monday is 1, Sunday 7.
    public var weekday: Int {
        // 1970-01-01 was a Thursday.
        let days = (dayNumber + 3) % 7
        return (days < 0 ? days + 7 : days) + 1
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// `yyyyMMdd`
    public var compact: String { text(separator: "") }

    private func text(separator: String) -> String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(year, 4) + separator + padded(month, 2) + separator + padded(day, 2)
    }
}

extension CalendarDay: CustomStringConvertible {
    /// `yyyy-MM-dd` (ISO 8601)
    public var description: String { text(separator: "-") }
}

extension CalendarDay: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let day = CalendarDay(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” is not a day such as 2026-11-21")
        }
        self = day
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension CalendarDay {
    /// Days since 1970-01-01 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil).
    private var dayNumber: Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The inverse of `dayNumber` (same source, civil_from_days).
    private init(dayNumber: Int) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
