import BoxOfficeSource
import OnesheetCore
import OnesheetTesting
import XCTest

final class BoxOfficeExtremesTests: XCTestCase {
    func testThatNoValueOfKOBISTrapsOrPassesAsANumberThatIsNone() async throws {
        // Given lists, a search and a film of KOBIS with each extreme value in each position
        let code = "20112207"
        let film = RecordedKOBIS.movie.split(separator: "20124079").joined(separator: code)
        for list in ExtremeJSON.variants(of: RecordedKOBIS.day) {
            try await expectUsable(RecordedKOBIS.daily, list, of: code)
        }
        for search in ExtremeJSON.variants(of: RecordedKOBIS.search(41, ["2023A100"])) {
            try await expectUsable(RecordedKOBIS.list, search, of: code, query: TitleQuery(phrase: "film"))
            try await expectUsable(RecordedKOBIS.list, search, of: code, query: TitleQuery(phrase: "film", page: .max))
        }
        for film in ExtremeJSON.variants(of: film) {
            try await expectUsable("\(RecordedKOBIS.info)?key=k&movieCd=\(code)", film, of: code)
        }
        for fault in ExtremeJSON.variants(of: RecordedKOBIS.fault("320011", "no")) {
            try await expectUsable(RecordedKOBIS.daily, fault, of: code)
        }
    }

    func testThatANumberThatIsNoneIsMalformed() async throws {
        let transport = RecordedKOBIS.transport()
        transport.on(RecordedKOBIS.daily, RecordedKOBIS.day.replacingOccurrences("36.3", "nan").replacingOccurrences("16.3", "nan"))
        do {
            _ = try await RecordedKOBIS.source(transport).titles(TitleQuery(date: CalendarDay("20120101")))
            XCTFail("nan is a number")
        } catch {
            guard case .malformedAnswer(let reason, _)? = error as? SourceError else { return XCTFail("\(error)") }
            XCTAssertTrue(reason.contains("nan"), reason)
        }
    }

    func testThatAnAnswerOfMoreThanItsBytesIsRefused() async throws {
        // Given a response of nine megabytes
        let transport = RecordedKOBIS.transport()
        transport.on(RecordedKOBIS.daily, "[" + String(repeating: "\"a\",", count: 9 << 18) + "1]")
        do {
            _ = try await RecordedKOBIS.source(transport).titles(TitleQuery(date: CalendarDay("20120101")))
            XCTFail("it was read")
        } catch {
            // Then it was not parsed at all
            XCTAssertTrue("\(error)".contains("sends more than 8388608 bytes"), "\(error)")
        }
    }

    private func expectUsable(_ url: String, _ answer: String, of id: String, query: TitleQuery? = nil) async throws {
        let transport = RecordedKOBIS.transport()
        transport.on(url, answer)
        let problems = await AnswerTrial.problems(
            of: try RecordedKOBIS.source(transport), id: id, query ?? TitleQuery(date: CalendarDay("20120101")))
        XCTAssertEqual(problems, [], answer)
    }
}

extension String {
    fileprivate func replacingOccurrences(_ word: String, _ other: String) -> String {
        split(separator: word).joined(separator: other)
    }
}
