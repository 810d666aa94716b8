import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

final class SourceConformanceTests: XCTestCase {
    private func report(_ mistake: FaultySource.Mistake?) async -> SourceConformance.Report {
        let service = FakeTransport()
        service.on("http://service.example/", "ok")
        let calls = Calls()
        return await SourceConformance(
            transport: service, knownID: "1", unknownID: "2", list: TitleQuery(),
            exhausted: HTTPAnswer(status: 200, body: ByteBuffer(string: "no more"))
        ) {
            FaultySource(mistake, $0, calls: calls)
        }.run()
    }

    func testThatASourceWithoutMistakesPasses() async {
        // Given
        let mistake: FaultySource.Mistake? = nil

        // When
        let report = await report(mistake)

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
        XCTAssertEqual(report.findings.filter { $0.holds == true }.count, 11)
    }

    func testThatEveryMistakeIsFoundAndNamed() async {
        // Given
        let expected: [FaultySource.Mistake: String] = [
            .otherID: "asked for “1”, it answers the title “01”", .noName: "the title “1” has no name",
            .changes: "“1” has different candidates the second time: the name of an original must not change",
            .doubles: "a candidate of “1” comes twice",
            .answersUnknown: "title of the unknown id “2” answers instead of throwing .notFound",
            .spoilsRequests: "the id “ ” breaks the request: a space", .repeatsPages: "“1” comes twice, the second time on page 2",
            .goesBack: "the page after 1 is 1", .swallowsAnswers: "title answers although the service did not (html)",
            .swallowsTimeOuts: "title answers although the service did not (timeOut)",
            .hidesQuota: "title throws “the service's answer is malformed: not ok” when the quota is exhausted",
            .asksAgain: "title asks again although it knows that the quota is exhausted",
            .saysInfinity: "“1” has an invalid number",
            .misspellsVotes: "the candidate “http://a.example/1” has an invalid size, date, trust or votes",
        ]

        for mistake in FaultySource.Mistake.allCases {
            // When
            let report = await report(mistake)

            // Then
            let finding = report.failures.first { $0.problem == expected[mistake] }
            XCTAssertNotNil(finding, "\(mistake): \(report)")
            XCTAssertNotNil(finding?.advice, "\(mistake)")
        }
    }

    func testThatWhatCannotBeTriedIsSaidAndIsNoFailure() async {
        // Given a search without lists, unknown ids and a quota
        let service = FakeTransport()
        service.on("http://service.example/", "ok")
        let suite = SourceConformance(transport: service, knownID: "1", unknownID: nil, list: nil) {
            FaultySource(nil, $0, calls: Calls())
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
        XCTAssertEqual(report.findings.filter { $0.holds == nil }.count, 3, report.description)
    }
}

/// Counts calls.
final class Calls: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
