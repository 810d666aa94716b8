import OnesheetCore
import OnesheetTesting
import ProgrammeSource
import StandardPlugins
import XCTest

final class ProgrammeSourceTests: XCTestCase {
    private static func source(_ transport: any HTTPTransport = FakeTransport()) throws -> ProgrammeSource {
        let friday = try XCTUnwrap(CalendarDay("2026-11-27"))
        let configuration = ProgrammeSource.Configuration(
            films: NestedSource(type: "sample", configuration: .mapping([:])),
            shows: [
                .init(day: friday, film: "3", at: ["18:00"]), .init(day: friday.adding(days: 1), film: "7", at: ["20:30"]),
            ])
        return try ProgrammeSource(
            configuration, context: .forTesting(transport: transport, sources: PluginList.standard.sources))
    }

    func testThatADayHasTheFilmsThatAreShownOnIt() async throws {
        // Given
        let source = try Self.source()

        // When
        let page = try await source.titles(TitleQuery(date: CalendarDay("2026-11-28")))

        // Then
        XCTAssertEqual(page.titles.map(\.id), ["7"])
        XCTAssertEqual(page.titles.first?.metadata["shows"], .object(["2026-11-28": .array(["20:30"])]))
    }

    func testThatItConforms() async throws {
        // Given a film in the programme and one that only the other source has
        let suite = SourceConformance(transport: FakeTransport(), knownID: "3", unknownID: "1", list: TitleQuery()) {
            try Self.source($0)
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}
