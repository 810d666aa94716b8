import FoundationEssentials
import OnesheetValues
import XCTest

final class CalendarDayTests: XCTestCase {
    func testThatBothSpellingsOfADayAreRead() {
        // Given
        let texts = ["20120229", "2012-02-29"]

        // When
        let days = texts.map { CalendarDay($0) }

        // Then
        XCTAssertEqual(days, [CalendarDay(year: 2012, month: 2, day: 29), CalendarDay(year: 2012, month: 2, day: 29)])
        XCTAssertEqual(days[0]?.description, "2012-02-29")
        XCTAssertEqual(days[0]?.compact, "20120229")
    }

    func testThatTextsThatAreNoDayAreRefused() {
        // Given
        let texts = [
            "", "2012", "201202", "20130229", "19000229", "20121301", "20120001", "20120100", "20120431", "2012/01/01", "2012-1-01",
            "2012-01-1 ", "２０１２0101", "00000101", "+2012101", "2012-01-01T00:00",
        ]

        // When
        let days = texts.map { ($0, CalendarDay($0)) }

        // Then
        for (text, day) in days { XCTAssertNil(day, text) }
    }

    func testThatTheDayChangesAtMidnightOfThePlace() {
        // Given 2026-11-20 14:59:59 and 15:00:00 in Greenwich, midnight in Seoul
        let before = Date(timeIntervalSince1970: 1_795_186_799)
        let after = before.addingTimeInterval(1)

        // When
        let days = [before, after].map { CalendarDay($0, secondsFromGMT: 32_400).description }

        // Then
        XCTAssertEqual(days, ["2026-11-20", "2026-11-21"])
    }

    func testThatADayBeginsWhereThePreviousEnds() throws {
        // Given
        let day = try XCTUnwrap(CalendarDay("2026-11-21"))

        // When
        let start = day.start(secondsFromGMT: 32_400)

        // Then
        XCTAssertEqual(start.timeIntervalSince1970, 1_795_186_800)
        XCTAssertEqual(CalendarDay(start, secondsFromGMT: 32_400), day)
        XCTAssertEqual(CalendarDay(start.addingTimeInterval(-1), secondsFromGMT: 32_400), day.adding(days: -1))
    }

    func testThatMomentsBefore1970BelongToTheirDay() {
        // Given
        let moment = Date(timeIntervalSince1970: -0.5)

        // When
        let day = CalendarDay(moment, secondsFromGMT: 0)

        // Then
        XCTAssertEqual(day.description, "1969-12-31")
    }

    func testThatEveryDayOfFourHundredYearsFollowsItsPredecessor() throws {
        // Given
        var day = try XCTUnwrap(CalendarDay("1800-01-01"))
        var count = 0

        // When
        while day.year < 2200 {
            let next = day.adding(days: 1)
            XCTAssertLessThan(day, next)
            XCTAssertEqual(next.adding(days: -1), day)
            XCTAssertEqual(next.weekday, day.weekday % 7 + 1)
            day = next
            count += 1
        }

        // Then
        XCTAssertEqual(count, 146_097)
    }

    func testThatDaysOfTheWeekCountFromMonday() throws {
        // Given
        let days = ["1970-01-01", "2026-11-21", "2012-01-02", "1969-12-28"]

        // When
        let weekdays = days.map { CalendarDay($0)?.weekday }

        // Then
        XCTAssertEqual(weekdays, [4, 6, 1, 7])
    }

    func testThatADayIsCodedAsItsText() throws {
        // Given
        let json = Data(#"["2026-11-21","20261121"]"#.utf8)

        // When
        let days = try JSONDecoder().decode([CalendarDay].self, from: json)

        // Then
        XCTAssertEqual(String(decoding: try JSONEncoder().encode(days), as: UTF8.self), #"["2026-11-21","2026-11-21"]"#)
        XCTAssertThrowsError(try JSONDecoder().decode([CalendarDay].self, from: Data(#"["soon"]"#.utf8)))
    }
}
