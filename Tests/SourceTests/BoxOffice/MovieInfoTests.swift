import BoxOfficeSource
import OnesheetCore
import OnesheetTesting
import XCTest

final class MovieInfoTests: XCTestCase {
    func testThatEveryFieldIsTyped() async throws {
        // Given
        let source = try RecordedKOBIS.source()

        // When
        let info = try await source.info("20124079")

        // Then
        XCTAssertEqual(info.name, "광해, 왕이 된 남자")
        XCTAssertEqual(info.englishName, "Masquerade")
        XCTAssertNil(info.originalName)
        XCTAssertEqual(info.minutes, 131)
        XCTAssertEqual(info.productionYear, 2012)
        XCTAssertEqual(info.released, CalendarDay("2012-09-13"))
        XCTAssertEqual(info.productionStatus, "개봉")
        XCTAssertEqual(info.kind, "장편")
        XCTAssertEqual(info.nations, ["한국"])
        XCTAssertEqual(info.genres, ["사극", "드라마"])
        XCTAssertEqual(info.directors.map(\.name), ["감독"])
        XCTAssertEqual(info.actors.map(\.person.name), ["배우", "배우 둘"])
        XCTAssertEqual(info.actors.map(\.role), ["광해/하선", nil])
        XCTAssertEqual(info.actors.map(\.englishRole), [nil, nil])
        XCTAssertEqual(info.actors.map(\.person.englishName), ["ACTOR", nil])
        XCTAssertEqual(info.showings.map(\.group), ["필름"])
        XCTAssertEqual(info.showings.map(\.name), ["필름"])
        XCTAssertEqual(info.companies.map(\.code), ["20120801"])
        XCTAssertEqual(info.companies.map(\.name), ["제작사"])
        XCTAssertEqual(info.companies.map(\.englishName), ["Makers"])
        XCTAssertEqual(info.companies.map(\.part), ["제작사"])
        XCTAssertEqual(info.ratings.map(\.number), ["2012-F612"])
        XCTAssertEqual(info.ratings.map(\.grade), ["15세이상관람가"])
        XCTAssertEqual(info.staff.map(\.role), ["조명"])
        XCTAssertEqual(info.staff.map(\.person.name), ["스태프"])
    }

    func testThatATitleCarriesItAll() async throws {
        // Given
        let source = try RecordedKOBIS.source()

        // When
        let title = try await source.title("20124079")

        // Then
        XCTAssertEqual(title.id, "20124079")
        XCTAssertEqual(title.name, "광해, 왕이 된 남자")
        XCTAssertEqual(title.originalName, "Masquerade")
        XCTAssertEqual(title.releaseDate, CalendarDay("2012-09-13"))
        XCTAssertEqual(title.metadata["showTm"], 131)
        XCTAssertEqual(title.metadata["genres"], .array(["사극", "드라마"]))
        XCTAssertEqual(
            title.metadata["actors"],
            .array([
                .object(["peopleNm": "배우", "peopleNmEn": "ACTOR", "cast": "광해/하선"]), .object(["peopleNm": "배우 둘"]),
            ]))
        XCTAssertEqual(
            title.metadata["staffs"],
            .array([.object(["peopleNm": "스태프", "peopleNmEn": "STAFF", "staffRoleNm": "조명"])]))
        XCTAssertEqual(
            Set(title.metadata.keys),
            [
                "movieNmEn", "showTm", "prdtYear", "prdtStatNm", "typeNm", "nations", "genres", "directors", "actors", "showTypes",
                "companys", "audits", "staffs",
            ])
    }

    func testThatAnUnknownFilmIsNotFound() async throws {
        // Given
        let answers = [
            RecordedKOBIS.noMovie, #"{"movieInfoResult":{"movieInfo":{},"source":"x"}}"#,
            #"{"movieInfoResult":{"movieInfo":null}}"#,
            #"{"movieInfoResult":{"source":"x"}}"#, RecordedKOBIS.movie,
        ]

        for answer in answers {
            let transport = FakeTransport()
            transport.on(RecordedKOBIS.info, answer)
            let source = try RecordedKOBIS.source(transport)

            // When
            do throws(SourceError) {
                _ = try await source.title("19999999")
                XCTFail("a title was answered for \(answer)")
            } catch {
                // Then
                XCTAssertEqual(error, .notFound(id: "19999999"))
            }
        }
    }

    func testThatWhatCannotBeACodeCostsNoCall() async throws {
        // Given
        let transport = RecordedKOBIS.transport()
        let source = try RecordedKOBIS.source(transport)

        for code in ["", "2012 4079", "광해", "20124079&key=x", "../20124079", String(repeating: "1", count: 21)] {
            // When
            do throws(SourceError) {
                _ = try await source.title(code)
                XCTFail("a title was answered")
            } catch {
                // Then
                XCTAssertEqual(error, .notFound(id: code))
            }
        }
        XCTAssertEqual(transport.count(), 0)
    }
}
