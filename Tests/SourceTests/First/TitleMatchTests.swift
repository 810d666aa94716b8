import OnesheetCore
import XCTest

@testable import FirstSource

/// The score of two titles: each row of its table.
final class TitleMatchTests: XCTestCase {
    private let film = TitleMatchTests.film("기생충", "Parasite", 2019, "봉준호", "BONG Joon-ho")

    func testScoreIsTheTable() {
        for (other, score, words) in [
            (Self.film("Parasite", "기생충", 2019, "Joon Ho Bong"), 1, "same title, same year, same director"),
            (Self.film("기생충!", nil, 2019), 0.95, "same title, same year, director unknown"),
            (Self.film("PARASITE", nil, 2020, "Bong Joon Ho"), 0.9, "same title, a year apart, same director"),
            (Self.film("Parasite", nil, 2020), 0.86, "same title, a year apart, director unknown"),
            (Self.film("Parasite", nil, nil), 0.76, "same title, year unknown, director unknown"),
            (Self.film("Parasite: Black and White", nil, 2019), 0.76, "title with a subtitle, same year, director unknown"),
            (Self.film("Parasite", nil, 2021), 0.48, "same title, two years apart, director unknown"),
            (Self.film("Parasite", nil, 1982, "Charles Band"), 0.08, "same title, 37 years apart, another director"),
            (Self.film("Parasite", nil, 2019, "Charles Band"), 0.4, "same title, same year, another director"),
            (Self.film("Parasites", nil, 2019), 0.74, "similar title, same year, director unknown"),
            (Self.film("Paradise", nil, 2019), 0.16, "similar title, same year, director unknown"),
            (Self.film("Okja", nil, 2019, "봉준호"), 0, "similar title, same year, same director"),
            (Self.film("", nil, 2019), 0, "similar title, same year, director unknown"),
        ] {
            let match = TitleMatch(other, for: film)
            XCTAssertEqual(match.score, score, accuracy: 0.005, other.name)
            XCTAssertEqual(match.words, "\(words): \(match.score) of at least 0.7", other.name)
        }
    }

    func testDifferentSubtitlesAreDifferentFilms() {
        for (one, other) in [
            ("Fear Street: 1994", "Fear Street: 1978"),
            ("The Hobbit: An Unexpected Journey", "The Hobbit: The Desolation of Smaug"),
            ("(500) Days of Summer", "(Untitled)"),
        ] {
            let match = TitleMatch(Self.film(one, nil, 2021, "Leigh Janiak"), for: Self.film(other, nil, 2021, "Leigh Janiak"))
            XCTAssertLessThan(match.score, TitleMatch.leastScore, one)
        }
    }

    func testYearOfProductionCountsForANewRelease() {
        // Given a film that is shown again
        var again = Self.film("Parasite", nil, 2026)
        again.metadata["prdtYear"] = .integer(2019)

        // When
        let match = TitleMatch(again, for: film)

        // Then
        XCTAssertEqual(match.score, 0.95)
    }

    func testBestIsTheHighest() {
        let titles = [Self.film("Parasite", nil, 2020), Self.film("Parasite", nil, 2019), Self.film("Parasite", nil, 1982)]
        XCTAssertEqual(TitleMatch.best(of: titles, for: film)?.title.id, "Parasite 2019")
        XCTAssertEqual(TitleMatch.best(of: titles.reversed(), for: film)?.title.id, "Parasite 2019")
    }

    func testNoneIsBelievedBelowTheLeastScore() {
        XCTAssertNil(TitleMatch.best(of: [Self.film("Parasite", nil, 2021)], for: film))
        XCTAssertNotNil(TitleMatch.best(of: [Self.film("Parasite", nil, 2021)], for: film, atLeast: 0.4))
        XCTAssertNil(TitleMatch.best(of: [], for: film))
    }

    func testNoneOfTwoEqualsIsBelieved() {
        // Given two titles of the same name and year, and one of them twice
        let (one, other) = (Self.film("Parasite", nil, 2019, id: "1"), Self.film("Parasite", nil, 2019, id: "2"))

        // Then
        XCTAssertNil(TitleMatch.best(of: [one, other], for: film))
        XCTAssertEqual(TitleMatch.best(of: [one, one], for: film)?.title.id, "1")
    }

    private static func film(
        _ name: String, _ original: String?, _ year: Int?, _ directors: String..., id: String? = nil
    ) -> Title {
        Title(
            id: id ?? "\(name) \(year ?? 0)", name: name, originalName: original,
            releaseDate: year.flatMap { CalendarDay(year: $0, month: 5, day: 30) },
            metadata: directors.isEmpty
                ? [:]
                : [
                    "directors": .array([
                        .object(Dictionary(uniqueKeysWithValues: directors.enumerated().map { ("\($0)", .string($1)) }))
                    ])
                ])
    }
}
