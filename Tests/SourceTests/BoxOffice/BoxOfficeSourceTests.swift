import BoxOfficeSource
import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

final class BoxOfficeSourceTests: XCTestCase {
    func testThatADaysListHasTypedRows() async throws {
        // Given
        let source = try RecordedKOBIS.source()

        // When
        let list = try await source.list(CalendarDay("20120101"))

        // Then
        let row = try XCTUnwrap(list.rows.first)
        XCTAssertEqual(list.kind, "일별 박스오피스")
        XCTAssertEqual(list.range, "20120101~20120101")
        XCTAssertNil(list.week)
        XCTAssertEqual(row.line, 1)
        XCTAssertEqual(row.rank, 1)
        XCTAssertEqual(row.rankChange, 0)
        XCTAssertEqual(row.entry, .old)
        XCTAssertEqual(row.code, "20112207")
        XCTAssertEqual(row.name, "미션임파서블:고스트프로토콜")
        XCTAssertEqual(row.released, CalendarDay("20111215"))
        XCTAssertEqual(row.sales, 2_776_060_500)
        XCTAssertEqual(row.salesShare, 36.3)
        XCTAssertEqual(row.salesIncrease, -415_699_000)
        XCTAssertEqual(row.salesChange, -13)
        XCTAssertEqual(row.salesTotal, 40_541_108_500)
        XCTAssertEqual(row.audience, 353_274)
        XCTAssertEqual(row.audienceIncrease, -60_106)
        XCTAssertEqual(row.audienceChange, -14.5)
        XCTAssertEqual(row.audienceTotal, 5_328_435)
        XCTAssertEqual(row.screens, 697)
        XCTAssertEqual(row.shows, 3223)
    }

    func testThatEmptyTextsAreAbsentAndNamesAreTrimmed() async throws {
        // Given
        let source = try RecordedKOBIS.source()

        // When
        let row = try await source.list(CalendarDay("20120101")).rows[1]

        // Then
        XCTAssertEqual(row.name, "마이 웨이")
        XCTAssertEqual(row.entry, .new)
        XCTAssertEqual(row.rankChange, 1)
        XCTAssertNil(row.released)
        XCTAssertNil(row.sales)
        XCTAssertNil(row.salesChange)
        XCTAssertNil(row.shows)
    }

    func testThatADaysTitlesCarryRankDayAndFigures() async throws {
        // Given
        let source = try RecordedKOBIS.source()

        // When
        let page = try await source.titles(TitleQuery(date: CalendarDay("20120101")))

        // Then
        XCTAssertEqual(page.total, 2)
        XCTAssertNil(page.next)
        XCTAssertEqual(page.titles.map(\.id), ["20112207", "2023C168"])
        XCTAssertEqual(page.titles[0].rank, 1)
        XCTAssertEqual(page.titles[0].releaseDate, CalendarDay("2011-12-15"))
        XCTAssertEqual(page.titles[0].metadata["audiAcc"], 5_328_435)
        XCTAssertEqual(page.titles[0].metadata["salesShare"], .number(36.3))
        XCTAssertEqual(page.titles[0].metadata["rankOldAndNew"], "OLD")
        XCTAssertEqual(page.titles[0].metadata.count, 13)
        XCTAssertEqual(page.titles[1].metadata, ["rankInten": 1, "rankOldAndNew": "NEW", "salesShare": .number(16.3)])
    }

    func testThatAWeeksListIsAskedAsDocumented() async throws {
        // Given
        let cases: [(TitleQuery.Period, String)] = [(.week, "0"), (.weekend, "1"), (.weekdays, "2")]

        for (period, weekGb) in cases {
            let transport = RecordedKOBIS.transport()
            let source = try RecordedKOBIS.source(transport)

            // When
            let list = try await source.list(CalendarDay("20120101"), period)

            // Then
            XCTAssertEqual(list.week, "201152")
            XCTAssertEqual(list.rows.count, 2)
            XCTAssertEqual(transport.requests.map(\.url), ["\(RecordedKOBIS.weekly)?key=k&targetDt=20120101&weekGb=\(weekGb)"])
        }
    }

    func testThatTheNewestListIsYesterdaysInSeoul() async throws {
        // Given half past midnight on the 21st in Seoul, the 20th in Greenwich
        let transport = RecordedKOBIS.transport()
        let source = try RecordedKOBIS.source(transport, clock: ManualClock(Date(timeIntervalSince1970: 1_795_188_600)))

        // When
        _ = try await source.titles(TitleQuery())

        // Then
        XCTAssertEqual(transport.requests.map(\.url), ["\(RecordedKOBIS.daily)?key=k&targetDt=20261120"])
    }

    func testThatTheNewestWeekIsTheLastThatIsOver() async throws {
        // Given Saturday the 21st in Seoul; Thursday was the 19th, Sunday the 15th
        let cases: [(TitleQuery.Period, String)] = [(.week, "20261115"), (.weekend, "20261115"), (.weekdays, "20261119")]

        for (period, day) in cases {
            let transport = RecordedKOBIS.transport()
            let source = try RecordedKOBIS.source(transport)

            // When
            _ = try await source.titles(TitleQuery(period: period))

            // Then
            XCTAssertTrue(try XCTUnwrap(transport.requests.first).url.contains("targetDt=\(day)"), "\(period)")
        }
    }

    func testThatDaysWithoutDataCostNoCall() async throws {
        // Given today and tomorrow in Seoul, and the day before the first
        let transport = RecordedKOBIS.transport()
        let source = try RecordedKOBIS.source(transport)

        for day in ["2026-11-21", "2026-11-22", "2003-11-10"] {
            // When
            let page = try await source.titles(TitleQuery(date: CalendarDay(day)))

            // Then
            XCTAssertEqual(page.titles, [])
        }
        XCTAssertEqual(transport.count(), 0)
        _ = try await source.titles(TitleQuery(date: CalendarDay("2003-11-11")))
        XCTAssertEqual(transport.count(), 1)
    }

    func testThatAListHasOnePage() async throws {
        // Given
        let transport = RecordedKOBIS.transport()
        let source = try RecordedKOBIS.source(transport)

        // When
        let page = try await source.titles(TitleQuery(page: 2))

        // Then
        XCTAssertEqual(page, TitlePage(titles: []))
        XCTAssertEqual(transport.count(), 0)
    }

    func testThatASearchGoesFromPageToPage() async throws {
        // Given
        let transport = RecordedKOBIS.transport()
        let source = try RecordedKOBIS.source(transport)

        // When
        let pages = [
            try await source.titles(TitleQuery(phrase: " 영화 ")), try await source.titles(TitleQuery(phrase: "영화", page: 2)),
            try await source.titles(TitleQuery(phrase: "영화", page: 3)),
        ]

        // Then
        XCTAssertEqual(pages.map(\.next), [2, 3, nil])
        XCTAssertEqual(pages.map(\.total), [41, 41, 41])
        XCTAssertEqual(
            transport.requests[0].url,
            "\(RecordedKOBIS.list)?key=k&movieNm=%EC%98%81%ED%99%94&curPage=1&itemPerPage=20")
        let title = pages[0].titles[0]
        XCTAssertEqual(title.id, "2023A100")
        XCTAssertEqual(title.originalName, "Film 2023A100")
        XCTAssertNil(title.releaseDate)
        XCTAssertEqual(title.metadata["prdtYear"], 2023)
        XCTAssertEqual(title.metadata["directors"], .array([.object(["peopleNm": "감독"])]))
    }

    func testThatItConforms() async throws {
        // Given
        let suite = SourceConformance(
            transport: RecordedKOBIS.transport(), knownID: "20124079", unknownID: "99999999",
            list: TitleQuery(date: CalendarDay("20120101")),
            exhausted: HTTPAnswer(
                status: 200, body: ByteBuffer(string: #"{"faultInfo":{"message":"호출 제한 초과","errorCode":"320011"}}"#))
        ) { try RecordedKOBIS.source($0) }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}
