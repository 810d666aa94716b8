import Foundation
import OnesheetCore
import XCTest

final class AnswerCheckTests: XCTestCase {
    func testThatWhatJSONCannotSayIsLeftOut() throws {
        // Given
        var title = Title(id: "1", name: "One")
        title.metadata = [
            "nan": .number(.nan), "infinite": .number(.infinity), "fine": .number(1e300),
            "list": .array([1, .number(-.infinity), .object(["x": .number(.nan), "y": 2])]),
        ]
        // When
        let checked = try AnswerCheck.checked(TitlePage(titles: [title], total: -1, next: 2))
        // Then
        XCTAssertEqual(
            checked.titles.first?.metadata, ["fine": .number(1e300), "list": .array([1, .object(["y": 2])])])
        XCTAssertNil(checked.total)
        XCTAssertNoThrow(try JSONEncoder().encode(checked))
    }

    func testThatWhatIsTooMuchSpoilsTheAnswer() {
        func title(_ change: (inout Title) -> Void) -> Title {
            var title = Title(id: "1", name: "One")
            change(&title)
            return title
        }
        var deep = JSONValue.array([])
        for _ in 0..<100 { deep = .array([deep]) }
        let long = String(repeating: "x", count: 70_000)
        let titles = [
            title { $0.id = "" }, title { $0.id = String(repeating: "x", count: 8193) }, title { $0.name = long },
            title { $0.overview = long }, title { $0.metadata[long] = 1 }, title { $0.metadata["x"] = .string(long) },
            title { $0.metadata["x"] = .array(Array(repeating: 1, count: 10_001)) }, title { $0.metadata["x"] = deep },
            title { $0.metadata["x"] = .array(Array(repeating: .string(String(repeating: "x", count: 60_000)), count: 20)) },
        ]
        for title in titles { XCTAssertThrowsError(try AnswerCheck.checked(title)) { Self.assertMalformed($0) } }
        let many = TitlePage(titles: Array(repeating: Title(id: "1", name: "One"), count: 10_001))
        XCTAssertThrowsError(try AnswerCheck.checked(many)) { Self.assertMalformed($0) }
        let heavy = title { $0.metadata["x"] = .array(Array(repeating: .string(String(repeating: "x", count: 60_000)), count: 15)) }
        XCTAssertThrowsError(try AnswerCheck.checked(TitlePage(titles: Array(repeating: heavy, count: 12)))) {
            Self.assertMalformed($0)
        }
        let places = Array(repeating: PosterCandidate(.http(url: "http://a.example/")), count: 10_001)
        XCTAssertThrowsError(try AnswerCheck.checked(places)) { Self.assertMalformed($0) }
    }

    func testBadTitleLosesOnlyItself() throws {
        // Given twenty good titles and bad ones among them
        var page = TitlePage(titles: (0..<20).map { Title(id: "\($0)", name: "One") }, total: 22)
        let long = String(repeating: "x", count: 70_000)
        var title = Title(id: "long", name: "One")
        title.overview = long
        page.titles.insert(title, at: 10)
        page.titles.insert(Title(id: "", name: "One"), at: 3)
        // When they are checked, then these are missing, and a reason is told for each that does not quote it to visitors
        var damage: [SourceError] = []
        let checked = try AnswerCheck.checked(page) { damage.append($0) }
        XCTAssertEqual(checked.titles.map(\.id), (0..<20).map { "\($0)" })
        XCTAssertEqual(checked.total, 22)
        XCTAssertEqual(damage.count, 2)
        XCTAssertTrue(damage.allSatisfy { !$0.message.contains("xxx") }, "\(damage)")
    }

    func testTooManyGenresAreNoAnswer() throws {
        let long = String(repeating: "x", count: 65_536)
        XCTAssertEqual(try AnswerCheck.checked(genres: ["18": "Drama", "1": long]).count, 2)
        for genres in [
            ["1": long + "x"], [long + "x": "Drama"], Dictionary(uniqueKeysWithValues: (0..<10_001).map { ("\($0)", "") }),
            Dictionary(uniqueKeysWithValues: (0..<200).map { ("\($0)", long) }),
        ] {
            XCTAssertThrowsError(try AnswerCheck.checked(genres: genres))
        }
    }

    func testPausesAreBounded() {
        for seconds in [Int.max, 86_400, 3601] {
            XCTAssertEqual(AnswerCheck.checked(SourceError.rateLimited(retryAfter: seconds)), .rateLimited(retryAfter: 3600))
            XCTAssertEqual(
                AnswerCheck.checked(SourceError.unavailable(reason: "r", retryAfter: seconds)),
                .unavailable(reason: "r", retryAfter: 3600))
        }
        XCTAssertEqual(AnswerCheck.checked(SourceError.rateLimited(retryAfter: -5)), .rateLimited(retryAfter: 1))
    }

    func testErrorTextsCannotTurnThemselvesRound() {
        // Given texts with controls and marks of direction, of each kind of error that visitors read
        let text = "no \u{202E}gnp.exe\u{2066}\u{1B}[31m\u{2028}films"
        let escaped = "no \\u{202e}gnp.exe\\u{2066}\\u{1b}[31m\\u{2028}films"
        for (error, expected) in [
            (.unavailable(reason: text), .unavailable(reason: escaped)), (.unsupported(text), .unsupported(escaped)),
            (.unauthorized(message: text), .unauthorized(message: escaped)),
            (.failed(reason: text, details: text), .failed(reason: escaped, details: escaped)),
            (.malformedAnswer(reason: text, details: text), .malformedAnswer(reason: escaped, details: escaped)),
        ] as [(SourceError, SourceError)] {
            // Then they have the form of the log
            XCTAssertEqual(AnswerCheck.checked(error), expected)
        }
    }

    func testThatACandidateKeepsWhatItCanHave() throws {
        // Given
        let candidates = [
            PosterCandidate(
                .http(url: "http://a.example/1"), width: .max, height: -1, published: Date(timeIntervalSince1970: 1e300),
                trust: .nan),
            PosterCandidate(.http(url: "http://a.example/2"), width: 600, height: 900, trust: 7),
            PosterCandidate(.http(url: "")), PosterCandidate(.http(url: "http://a.example/" + String(repeating: "x", count: 9000))),
        ]
        // When
        let checked = try AnswerCheck.checked(candidates)
        // Then
        XCTAssertEqual(checked.map(\.location.name), ["http://a.example/1", "http://a.example/2"])
        XCTAssertEqual(checked.map(\.width), [nil, 600])
        XCTAssertEqual(checked.map(\.height), [nil, 900])
        XCTAssertEqual(checked.map(\.trust), [0, 1])
        XCTAssertNil(checked[0].published)
    }

    func testThatAnErrorCanBeTold() {
        for until in [1e300, -1e300, .infinity, .nan, 1e15] {
            XCTAssertEqual(AnswerCheck.checked(SourceError.quotaExhausted(until: until)), .quotaExhausted(until: nil))
            XCTAssertEqual(
                "\(SourceError.quotaExhausted(until: until))",
                "the service's quota is exhausted; it resets at an invalid time")
        }
        XCTAssertEqual(AnswerCheck.checked(SourceError.quotaExhausted(until: 1e9)), .quotaExhausted(until: 1e9))
        let long = String(repeating: "가", count: 1_000_000)
        for error in [
            SourceError.unavailable(reason: long), .malformedAnswer(reason: long), .unauthorized(message: long),
            .notFound(id: long),
        ] {
            XCTAssertLessThan("\(AnswerCheck.checked(error))".utf8.count, 1200)
        }
    }

    func testThatMoreChangesThanTitlesAreAll() {
        XCTAssertEqual(AnswerCheck.checked(.titles(Array(repeating: "x", count: 10_001))), .all)
        XCTAssertEqual(AnswerCheck.checked(.titles(["x", ""])), .titles(["x"]))
    }

    private static func assertMalformed(_ error: any Error, line: UInt = #line) {
        guard case .malformedAnswer(let reason, _)? = error as? SourceError else { return XCTFail("\(error)", line: line) }
        XCTAssertLessThan(reason.utf8.count, 1300, line: line)
    }
}
