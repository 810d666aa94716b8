import Foundation
import Logging
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

final class WatchedSourceTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var watch = SourceWatch(
        of: "films", clock: clock.wallClock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })

    /// A plugin that does with each title what a test says.
    private struct Scripted: ContentSource {
        let originPolicy = OriginPolicy(maxBytes: 1000)
        let answer: @Sendable (String) async throws(SourceError) -> Void

        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
            try await answer("list")
            return TitlePage(titles: [])
        }
        func title(_ id: String) async throws(SourceError) -> Title {
            try await answer(id)
            return Title(id: id, name: "One")
        }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
    }

    private func source(
        time: Duration = .seconds(60), calls: Int = 256, bytes: Int? = nil,
        _ answer: @escaping @Sendable (String) async throws(SourceError) -> Void
    ) -> WatchedSource {
        var limits = SourceLimits()
        (limits.time, limits.calls, limits.bytes) = (time, calls, bytes)
        return WatchedSource(Scripted(answer: answer), limits, watch)
    }

    private static func failure(_ source: WatchedSource, _ id: String = "1") async -> SourceError? {
        do throws(SourceError) { _ = try await source.title(id) } catch { return error }
        return nil
    }

    func testThatAPluginThatNeverEndsIsLeftAfterItsTime() async {
        // Given a plugin that does not mind being cancelled
        let (silence, end) = AsyncStream<Void>.makeStream()
        let source = source(time: .milliseconds(20)) { _ in
            await Task.detached { for await _ in silence {} }.value
        }
        // When
        let error = await Self.failure(source)
        // Then
        XCTAssertEqual(error, .unavailable(reason: "no answer in 0.02 seconds"))
        XCTAssertEqual(watch.figures.calls, [.timedOut: 1])
        XCTAssertEqual(watch.figures.underWay, 1, "it still runs")
        XCTAssertEqual(watch.health, .failing(since: clock.now, reason: "it does not answer in time"))
        end.finish()
    }

    func testThatMoreCallsThanAllowedAreRefusedAtOnce() async throws {
        // Given two calls that wait
        let gate = Gate()
        let source = source(calls: 2) { _ throws(SourceError) in
            do { try await gate.pass() } catch { throw .unavailable(reason: "\(error)") }
        }
        async let first = source.title("1")
        async let second = source.title("2")
        await gate.hasBeenReached(by: 2)
        // When a third comes
        let error = await Self.failure(source, "3")
        // Then it is refused, and the two are answered
        XCTAssertEqual(error, .unavailable(reason: "it has 2 calls to answer already; try again shortly"))
        gate.open()
        let ids = try await [first.id, second.id]
        XCTAssertEqual(ids, ["1", "2"])
        XCTAssertEqual(watch.figures.calls, [.answered: 2, .refused: 1])
    }

    func testThatASourceFailsSinceItsFirstFailureAndUntilItAnswers() async {
        // Given
        let source = source { id throws(SourceError) in
            if id == "broken" { throw .malformedAnswer(reason: "half a list") }
            if id == "nobody" { throw .notFound(id: id) }
        }
        let start = clock.now
        // When it fails twice
        _ = await Self.failure(source, "broken")
        clock.advance(by: .seconds(60))
        _ = await Self.failure(source, "broken")
        // Then the first time counts, and neither an unknown title nor another call is a failure
        XCTAssertEqual(watch.health, .failing(since: start, reason: "the service's answer is malformed: half a list"))
        _ = try? await source.titles(TitleQuery())
        XCTAssertNotEqual(watch.health, .well)
        _ = await Self.failure(source, "nobody")
        XCTAssertEqual(watch.health, .well)
    }

    func testThatAQuotaIsUsedUpUntilItFillsAndOnlyForThoseWhoMayUseIt() async {
        // Given
        let until = clock.now.addingTimeInterval(60)
        let source = source { _ throws(SourceError) in throw .quotaExhausted(until: until.timeIntervalSince1970) }
        // When what is kept for people is asked for by prefetching
        await Urgency.$current.withValue(.prefetch) { _ = await Self.failure(source) }
        // Then people may still ask
        XCTAssertEqual(watch.health, .well)
        _ = await Self.failure(source)
        XCTAssertEqual(watch.health, .exhausted(until: until))
        clock.advance(by: .seconds(60))
        XCTAssertEqual(watch.health, .well)
    }

    func testThatWhoeverLeavesSaysNothingAboutTheSource() async {
        // Given
        let gate = Gate()
        let source = source { _ throws(SourceError) in
            do { try await gate.pass() } catch { throw .unavailable(reason: "\(error)") }
        }
        // When
        let call = Task { try await source.title("1") }
        await gate.hasBeenReached()
        call.cancel()
        let result = await call.result
        // Then
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? SourceError, .unavailable(reason: "cancelled")) }
        XCTAssertEqual(watch.health, .well)
        XCTAssertEqual(watch.figures.calls, [:])
    }

    func testThatPicturesAndAnswersAreHeldToItsBytes() {
        // Given the plugin's own 1000 bytes
        let policies = [nil, 500, 5000].map { source(bytes: $0) { _ in }.originPolicy }
        // Then the smaller number holds
        XCTAssertEqual(policies.map(\.maxBytes), [1000, 500, 1000])
    }
}
