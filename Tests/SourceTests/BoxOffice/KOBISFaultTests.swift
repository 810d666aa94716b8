import BoxOfficeSource
import FoundationEssentials
import OnesheetCore
import OnesheetTesting
import XCTest

final class KOBISFaultTests: XCTestCase {
    private let day = TitleQuery(date: CalendarDay("20120101"))

    private func failure(_ status: Int, _ body: String) async throws -> SourceError? {
        let transport = FakeTransport()
        transport.on(RecordedKOBIS.root, status: status, body)
        let source = try RecordedKOBIS.source(transport)
        do throws(SourceError) {
            _ = try await source.titles(day)
            return nil
        } catch {
            return error
        }
    }

    func testThatFaultsIn200BecomeTheReasonsTheyMean() async throws {
        // Given
        let midnight = 1_795_273_200.0
        let cases: [(Int, String, SourceError)] = [
            (200, RecordedKOBIS.fault("320010", "유효하지않은 키값입니다."), .unauthorized(message: "유효하지않은 키값입니다.")),
            (200, RecordedKOBIS.fault("320011", "x"), .quotaExhausted(until: midnight)),
            (200, RecordedKOBIS.fault("320012", "일일 호출 횟수를 초과하였습니다."), .quotaExhausted(until: midnight)),
            (200, RecordedKOBIS.fault("320001", "키가 없습니다."), .unauthorized(message: "키가 없습니다. (320001)")),
            (
                200, RecordedKOBIS.fault("320102", "날짜"),
                .malformedAnswer(reason: "KOBIS rejected the request (320102)", details: "날짜")
            ),
            (200, RecordedKOBIS.fault("900001", "점검"), .failed(reason: "KOBIS reports a failure (900001)", details: "점검")),
            (500, "", .unavailable(reason: "KOBIS returned HTTP status 500")),
            (404, "<html></html>", .malformedAnswer(reason: "KOBIS returned HTTP status 404")),
        ]

        for (status, body, expected) in cases {
            // When
            let error = try await failure(status, body)

            // Then
            XCTAssertEqual(error, expected, body)
        }
    }

    func testThatAnAnswerOfAnotherShapeIsMalformed() async throws {
        // Given
        let noCodes = RecordedKOBIS.day.split(separator: "movieCd").joined(separator: "code")
        let bodies = ["", "{}", "[]", "null", #"{"boxOfficeResult":{}}"#, "<html>점검</html>", noCodes]

        for body in bodies {
            // When
            let error = try await failure(200, body)

            // Then
            guard case .malformedAnswer? = error else { return XCTFail("\(body): \(String(describing: error))") }
        }
    }

    func testDamagedRowsDoNotTakeTheListWithThem() async throws {
        // Given lists whose first row has a wrong number, or no code, and a search with a film without a name
        for (text, wrong) in [("353274", "many"), ("20112207", " "), ("36.3", "nan")] {
            let transport = RecordedKOBIS.transport()
            transport.on(RecordedKOBIS.daily, RecordedKOBIS.day.split(separator: text).joined(separator: wrong))
            // When
            let list = try await RecordedKOBIS.source(transport).list(CalendarDay("20120101"))
            // Then the others are there, and the list says that one is missing
            XCTAssertEqual(list.rows.map(\.code), ["2023C168"], wrong)
            XCTAssertEqual(list.damage.count, 1, wrong)
        }
        let transport = RecordedKOBIS.transport()
        let found = RecordedKOBIS.search(2, ["1", "2"]).split(separator: "영화 1").joined(separator: " ")
        transport.on(RecordedKOBIS.list, found)
        let page = try await RecordedKOBIS.source(transport).titles(TitleQuery(phrase: "film"))
        XCTAssertEqual(page.titles.map(\.id), ["2"])
    }

    func testThatNoErrorShowsTheKey() async throws {
        // Given
        let transport = FakeTransport()
        let posters = NestedSource(type: "kakao", configuration: .mapping([:]))
        XCTAssertThrowsError(
            try BoxOfficeSource(.init(key: "s3cret", posters: posters), context: .forTesting(transport: transport)))
        transport.failNext(.timedOut(url: "https://www.kobis.or.kr/x?key=s3cret"))
        let source = try RecordedKOBIS.source(transport)

        // When
        do throws(SourceError) {
            _ = try await source.titles(day)
            XCTFail("it answered")
        } catch {
            // Then
            XCTAssertEqual(error, .failed(reason: "it did not answer in time", details: "https://www.kobis.or.kr"))
        }
    }

    func testThatNobodyAsksAgainBeforeTheQuotaFills() async throws {
        // Given
        let clock = ManualClock()
        let transport = FakeTransport()
        transport.on(RecordedKOBIS.root, RecordedKOBIS.fault("320011", "x"))
        let source = try RecordedKOBIS.source(transport, clock: clock)
        for _ in 0..<3 {
            do throws(SourceError) {
                _ = try await source.titles(day)
                XCTFail("it answered")
            } catch {
                XCTAssertEqual(error, .quotaExhausted(until: 1_795_273_200))
            }
        }
        XCTAssertEqual(transport.count(), 1)

        // When
        clock.now = Date(timeIntervalSince1970: 1_795_273_200)
        transport.on(RecordedKOBIS.root, RecordedKOBIS.day)
        let page = try await source.titles(day)

        // Then
        XCTAssertEqual(page.titles.count, 2)
    }
}
