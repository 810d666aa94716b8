import FoundationEssentials
import Logging
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import SampleSource
import StandardPlugins
import Synchronization
import XCTest

@testable import OnesheetServer

final class PrefetchScheduleTests: ServerTestCase {
    // 2026-11-21 12:00 UTC is 21:00 in Seoul.
    private let clock = ManualClock()
    private let order = PrefetchOrder(source: "sample", ids: ["1", "2"], sizes: ["w92"])

    func testThatALineIsCarriedOutAtItsTimeAndOnce() async throws {
        // Given a schedule at six in Seoul, first seen in the evening
        let context = try context("at: \"06:00\", timeZone: \"+09:00\", source: sample, sizes: [w92]")
        let schedule = PrefetchSchedule(context: context)
        await schedule.runDue()
        let evening = context.pipeline.metrics.counts.renders
        // When it is a minute to six, six, and a minute past
        clock.advance(by: .seconds(9 * 3600 - 60))
        await schedule.runDue()
        let before = context.pipeline.metrics.counts.renders
        clock.advance(by: .seconds(60))
        await schedule.runDue()
        let six = context.pipeline.metrics.counts.renders
        clock.advance(by: .seconds(60))
        await schedule.runDue()
        // Then it ran only at six
        XCTAssertEqual([evening, before], [0, 0])
        XCTAssertGreaterThan(six, 0)
        XCTAssertEqual(context.pipeline.metrics.counts.renders, six)
    }

    func testThatWhatCannotBeReadOfTheLedgerKeepsNothingNewOutOfIt() async throws {
        // Given a damaged ledger
        let store = try StateStore()
        try await store.part("prefetch").set("[{\"sour", for: "under way")
        let ledger = PrefetchLedger(store, PrefetchJobs(clock: .system))
        // When a prefetch begins
        try await ledger.begin(order)
        // Then it is recorded as running
        let underWay = try await ledger.underWay()
        XCTAssertEqual(underWay, [order])
    }

    func testThatAPrefetchMissedWhileTheServerWasDownRunsAfterTheStart() async throws {
        // Given an item that was seen before the server stopped
        let folder = folder()
        let line = "at: \"06:00\", source: sample, sizes: [w92]"
        let first = try started(line, folder: folder)
        await PrefetchSchedule(context: first).runDue()
        try await first.shutdown()
        // When the server is back the next noon
        clock.advance(by: .seconds(86_400))
        let second = try context(line, folder: folder)
        await PrefetchSchedule(context: second).runDue()
        // Then it runs
        XCTAssertGreaterThan(second.pipeline.metrics.counts.renders, 0)
    }

    func testThatAnInterruptedPrefetchContinuesAfterTheStart() async throws {
        // Given a running prefetch when the server was killed
        let folder = folder()
        let first = try started(folder: folder)
        try await PrefetchLedger(first.resources.state, first.resources.prefetchJobs).begin(order)
        try await first.shutdown()
        // When the server starts again
        let second = try context(folder: folder)
        await PrefetchSchedule(context: second).resume()
        // Then it continues, and ends
        let left = try await PrefetchLedger(second.resources.state, second.resources.prefetchJobs).underWay()
        XCTAssertEqual(second.pipeline.metrics.counts.renders, 2)
        XCTAssertEqual(left, [])
    }

    func testThatALineWhoseListCannotBeReadIsTriedAgain() async throws {
        // Given a line that is due while its source is down
        let context = try context("at: \"06:00\", timeZone: \"+09:00\", source: flaky, sizes: [w92]")
        let schedule = PrefetchSchedule(context: context)
        await schedule.runDue()
        clock.advance(by: .seconds(9 * 3600))
        FlakyLists.isDown.withLock { $0 = true }
        await schedule.runDue()
        // When the source is up again, at once and a minute later
        FlakyLists.isDown.withLock { $0 = false }
        await schedule.runDue()
        let soon = context.pipeline.metrics.counts.renders
        clock.advance(by: .seconds(60))
        await schedule.runDue()
        // Then the line runs after the pause, and once
        let later = context.pipeline.metrics.counts.renders
        clock.advance(by: .seconds(60))
        await schedule.runDue()
        XCTAssertEqual(soon, 0)
        XCTAssertGreaterThan(later, 0)
        XCTAssertEqual(context.pipeline.metrics.counts.renders, later)
    }

    func testClockThatWasAheadStopsNoLine() async throws {
        // Given a line that ran while the clock was a year ahead
        let context = try context("at: \"06:00\", timeZone: \"+09:00\", source: sample, sizes: [w92]")
        let schedule = PrefetchSchedule(context: context)
        await schedule.runDue()
        clock.advance(by: .seconds(365 * 86_400))
        await schedule.runDue()
        let ahead = context.pipeline.metrics.counts.renders
        // When the clock is right again and the line is due
        clock.advance(by: .seconds(9 * 3600 - 365 * 86_400))
        await schedule.runDue()
        // Then it runs
        XCTAssertGreaterThan(ahead, 0)
        XCTAssertGreaterThan(context.pipeline.metrics.counts.renders, ahead)
    }

    func testClockThatWasAheadDelaysNoRetry() async throws {
        // Given a line that failed while the clock was a year ahead
        let context = try context("at: \"06:00\", timeZone: \"+09:00\", source: flaky, sizes: [w92]")
        let schedule = PrefetchSchedule(context: context)
        await schedule.runDue()
        clock.advance(by: .seconds(365 * 86_400))
        FlakyLists.isDown.withLock { $0 = true }
        await schedule.runDue()
        FlakyLists.isDown.withLock { $0 = false }
        // When the clock is right again and the line is due
        clock.advance(by: .seconds(9 * 3600 - 365 * 86_400))
        await schedule.runDue()
        // Then it is tried at once
        XCTAssertGreaterThan(context.pipeline.metrics.counts.renders, 0)
    }

    func testThatAnOrderThatCanNeverRunIsDropped() async throws {
        // Given recorded orders for a source and a size that are gone, and one that can run
        let context = try context()
        let ledger = PrefetchLedger(context.resources.state, context.resources.prefetchJobs)
        try await ledger.begin(PrefetchOrder(source: "gone", ids: ["1"], sizes: ["w92"]))
        try await ledger.begin(PrefetchOrder(source: "sample", ids: ["1"], sizes: ["w1"]))
        try await ledger.begin(order)
        // When the server starts
        await PrefetchSchedule(context: context).resume()
        // Then the others run, and none is left
        let left = try await ledger.underWay()
        XCTAssertEqual(left, [])
        XCTAssertEqual(context.pipeline.metrics.counts.renders, 2)
    }

    func testThatTheDayIsTheZonesOwn() throws {
        // Given items for yesterday, in Seoul and in Greenwich, at a time with different days
        let moment = Date(timeIntervalSince1970: 1_795_262_400 + 6 * 3600)  // 18:00 UTC, 03:00 the next day in Seoul
        let lines = try [("+09:00", "2026-11-21"), ("+00:00", "2026-11-20")].map { zone, day in
            (try line("at: \"06:00\", timeZone: \"\(zone)\", date: yesterday, source: sample"), day)
        }
        for (line, day) in lines {
            // When it runs, then its day is the one before the zone's
            XCTAssertEqual(line.order(at: moment).dates.map(\.description), [day])
        }
    }

    func testALineMayNameAList() throws {
        // Given
        let line = try line("at: \"06:00\", source: sample, list: popular, answers: [\"language=de\"]")
        // When
        let order = line.order(at: Date(timeIntervalSince1970: 1_795_262_400))
        // Then
        XCTAssertEqual(order.list, "popular")
        XCTAssertEqual(order.answers, ["language=de"])
        XCTAssertEqual(order.dates, [])
        // And each list is a line of its own, while the name of one without a list stays that of earlier versions
        XCTAssertNotEqual(
            line.name, try self.line("at: \"06:00\", source: sample, list: trending, answers: [\"language=de\"]").name)
        XCTAssertEqual(try self.line("at: \"06:00\", source: sample, sizes: [w92]").name, "sample newest 21600 0 w92 jpg")
    }

    func testThatAScheduleThatCannotBeCarriedOutIsRefused() {
        let table = [
            ("at: \"25:00\", source: sample", "“25:00” is not a time of day such as 06:00"),
            ("at: \"6\", source: sample", "“6” is not a time of day"),
            ("at: \"06:00\", source: sampel", "unknown source “sampel”; did you mean “sample”?"),
            ("at: \"06:00\", source: sample, timeZone: Seoul", "“Seoul” is not an offset such as +09:00"),
            ("at: \"06:00\", source: sample, sizes: [w343]", "unknown size “w343”"),
            ("at: \"06:00\", source: sample, formats: [jpgg]", "jpgg"),
            ("at: \"06:00\", source: sample, date: tomorrow", "tomorrow"),
            ("source: sample", "“at” is missing"),
            ("at: \"06:00\", source: sample, list: popular, date: today", "prefetch.[0].list"),
            ("at: \"06:00\", source: sample, list: popular", "prefetch.[0].list: unknown list “popular”"),
            ("at: \"06:00\", source: sample, answers: [\"\"]", "prefetch.[0].answers: no dialect asks “sample”"),
        ]
        for (line, words) in table {
            XCTAssertThrowsError(try context(line), line) { XCTAssertTrue("\($0)".contains(words), "\($0)") }
        }
    }

    private func line(_ text: String) throws -> PrefetchConfiguration {
        try XCTUnwrap(try ConfigurationFile(environment: [:]).parse(Self.yaml(text, folder: "c")).prefetch.first)
    }

    private func context(_ line: String? = nil, folder: String? = nil) throws -> ServerContext {
        let context = try started(line, folder: folder ?? self.folder())
        addTeardownBlock { try await context.shutdown() }
        return context
    }

    /// A server that the test stops.
    private func started(_ line: String? = nil, folder: String) throws -> ServerContext {
        let configuration = try ConfigurationFile(environment: [:]).parse(Self.yaml(line, folder: folder))
        return try ServerContext(
            configuration, Self.plugins, clock: clock.wallClock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private static var plugins: PluginList {
        var plugins = PluginList.standard
        plugins.sources.append(FlakyLists.self)
        return plugins
    }

    private static func yaml(_ line: String?, folder: String) -> String {
        """
        cache: { disk: { path: "\(folder)" } }
        sources: { sample: { type: sample }, flaky: { type: flaky } }
        \(line.map { "prefetch: [{ \($0) }]" } ?? "")
        """
    }
}

/// The sample source, whose service may be down.
private struct FlakyLists: SourcePlugin {
    static let type = "flaky"
    static let sampleConfiguration = SampleSource.sampleConfiguration
    static let isDown = Mutex(false)

    let originPolicy = OriginPolicy(allow: [], networks: [])
    private let source: SampleSource

    init(_ configuration: NoConfiguration, context: PluginContext) { source = SampleSource(configuration, context: context) }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        if Self.isDown.withLock({ $0 }) { throw .unavailable(reason: "it is down") }
        return try await source.titles(query)
    }

    func title(_ id: String) async throws(SourceError) -> Title { try await source.title(id) }
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { try await source.candidates(for: id) }
}
