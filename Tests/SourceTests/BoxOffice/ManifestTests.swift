import BoxOfficeSource
import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import RestSource
import XCTest

/// A manifest for KOBIS and Kakao gives the same answers as the Swift plugin.
final class ManifestTests: XCTestCase {
    private static func manifest(_ transport: any HTTPTransport = RecordedKOBIS.transport()) throws -> RestSource {
        let value = try ConfigurationValue(yaml: "manifest: kobis-kakao\nvariables: { key: k, kakaoKey: kakao-key }")
        return try RestSource(
            try ConfigurationDecoder().decode(RestSource.Configuration.self, from: value),
            context: .forTesting(transport: transport))
    }

    func testThatListsSearchesAndTitlesAreTheSame() async throws {
        // Given
        let (swift, manifest) = (try RecordedKOBIS.source(), try Self.manifest())
        let queries = [
            TitleQuery(date: CalendarDay("20120101")), TitleQuery(), TitleQuery(phrase: "영화"), TitleQuery(phrase: "영화", page: 3),
            TitleQuery(date: CalendarDay("2026-11-21")), TitleQuery(page: 2),
            TitleQuery(date: CalendarDay("20120101"), period: .week), TitleQuery(period: .weekend), TitleQuery(period: .weekdays),
            TitleQuery(date: CalendarDay("2002-01-01"), period: .week),
        ]

        for query in queries {
            // When
            let (expected, page) = (try await swift.titles(query), try await manifest.titles(query))

            // Then
            XCTAssertEqual(page.titles, expected.titles, "\(query)")
            XCTAssertEqual(page.next, expected.next, "\(query)")
        }
        let (expected, title) = (try await swift.title("20124079"), try await manifest.title("20124079"))
        XCTAssertEqual(title, expected)
    }

    func testThatCandidatesAreTheSame() async throws {
        // Given
        let (swift, manifest) = (try RecordedKOBIS.source(), try Self.manifest())

        // When
        let (expected, candidates) = (try await swift.candidates(for: "20124079"), try await manifest.candidates(for: "20124079"))

        // Then
        XCTAssertEqual(candidates.map(\.location.name), expected.map(\.location.name))
        XCTAssertEqual(candidates.map(\.width), expected.map(\.width))
        XCTAssertEqual(candidates.map(\.published), expected.map(\.published))
    }

    func testThatTheRequestsAreTheSame() async throws {
        // Given
        let transports = [RecordedKOBIS.transport(), RecordedKOBIS.transport()]
        let sources: [any ContentSource] = [try RecordedKOBIS.source(transports[0]), try Self.manifest(transports[1])]

        // When
        for source in sources {
            for period in TitleQuery.Period.allCases { _ = try await source.titles(TitleQuery(period: period)) }
            _ = try await source.titles(TitleQuery(phrase: "광해 & 왕"))
            _ = try await source.candidates(for: "20124079")
        }

        // Then
        XCTAssertEqual(transports[0].requests, transports[1].requests)
    }

    func testThatFaultsAreTheSame() async throws {
        // Given
        let answers = [
            RecordedKOBIS.fault("320010", "유효하지않은 키값입니다."), RecordedKOBIS.fault("320011", "x"), RecordedKOBIS.noMovie,
        ]

        for answer in answers {
            let transport = FakeTransport()
            transport.on("http", answer)
            var errors: [SourceError] = []

            // When
            for source in [try RecordedKOBIS.source(transport), try Self.manifest(transport)] as [any ContentSource] {
                do throws(SourceError) {
                    _ = try await source.title("20124079")
                    XCTFail("it answered")
                } catch {
                    errors.append(error)
                }
            }

            // Then
            XCTAssertEqual(errors.first, errors.last)
        }
    }

    func testThatItConforms() async throws {
        // Given
        let suite = SourceConformance(
            transport: RecordedKOBIS.transport(), knownID: "20124079", unknownID: "99999999",
            list: TitleQuery(date: CalendarDay("20120101"))
        ) { try Self.manifest($0) }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}
