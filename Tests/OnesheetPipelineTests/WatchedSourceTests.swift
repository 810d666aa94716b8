import Foundation
import Logging
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}

private actor Counter {
    private var count = 0

    func spin(until stop: Flag, telling spinning: Flag) {
        spinning.raise()
        let end = ContinuousClock.now + .seconds(60)
        while !stop.isRaised, ContinuousClock.now < end { count &+= 1 }
    }
}

final class WatchedSourceTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var watch = SourceWatch(
        of: "films", clock: clock.wallClock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })

    /// A plugin whose behaviour for each title a test provides.
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
        return WatchedSource(Scripted(answer: answer), limits: limits, watch: watch)
    }

    func testSourceIsNotAskedInAPause() async throws {
        // Given a service that limits the rate of calls
        let calls = Atomic(0)
        let source = source { _ throws(SourceError) in
            if calls.add(1, ordering: .relaxed).oldValue == 0 { throw .rateLimited(retryAfter: 3) }
        }
        let first = await Self.failure(source)
        XCTAssertEqual(first, .rateLimited(retryAfter: 3))
        // When it is asked within the pause, then the call is refused for the rest of it
        clock.advance(by: .milliseconds(1500))
        let second = await Self.failure(source)
        XCTAssertEqual(second, .rateLimited(retryAfter: 2))
        // And other calls are made, as they may go to another service, and the source is well
        _ = try await source.titles(TitleQuery())
        XCTAssertEqual(watch.health, .well)
        // And after the pause it answers
        clock.advance(by: .milliseconds(1500))
        let third = await Self.failure(source)
        XCTAssertNil(third)
        XCTAssertEqual(watch.metrics.calls[.rateLimited], 1)
    }

    private static func failure(_ source: WatchedSource, _ id: String = "1") async -> SourceError? {
        do throws(SourceError) { _ = try await source.title(id) } catch { return error }
        return nil
    }

    func testThatAPluginThatNeverEndsIsLeftAfterItsTime() async {
        // Given a plugin that ignores cancellation
        let (silence, end) = AsyncStream<Void>.makeStream()
        let source = source(time: .milliseconds(20)) { _ in
            await Task.detached { for await _ in silence {} }.value
        }
        // When
        let error = await Self.failure(source)
        // Then
        XCTAssertEqual(error, .unavailable(reason: "no answer in 0.02 seconds"))
        XCTAssertEqual(watch.metrics.calls, [.timedOut: 1])
        XCTAssertEqual(watch.metrics.underWay, 1, "it still runs")
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
        XCTAssertEqual(error, .overloaded(retryAfter: 1))
        gate.open()
        let ids = try await [first.id, second.id]
        XCTAssertEqual(ids, ["1", "2"])
        XCTAssertEqual(watch.metrics.calls, [.answered: 2, .refused: 1])
    }

    func testClientsTakeTurnsAtASource() async throws {
        // Given a client with all calls that a source may have
        let (gate, entered) = (Gate(), Flag())
        let source = source(calls: 3) { id throws(SourceError) in
            if id == "modest" { return entered.raise() }
            do { try await gate.pass() } catch { throw .unavailable(reason: "\(error)") }
        }
        let ask = { @Sendable (client: UInt8, id: String) async in
            await WorkContext.with({ $0.clients = FlightClients([ClientKey([client])]) }) { await Self.failure(source, id) }
        }
        let greedy = (0..<3).map { number in Task { await ask(1, "\(number)") } }
        await gate.hasBeenReached(by: 3)
        // When another client asks, then it waits, while the first one is refused
        let modest = Task { await ask(2, "modest") }
        let leaving = Task { await ask(3, "leaves") }
        let more = await ask(1, "more")
        XCTAssertEqual(more, .overloaded(retryAfter: 1))
        // And who leaves takes no place
        leaving.cancel()
        let left = await leaving.value
        XCTAssertEqual(left, .unavailable(reason: "cancelled"))
        XCTAssertFalse(entered.isRaised)
        gate.open()
        let failures = [await modest.value, await greedy[0].value, await greedy[1].value, await greedy[2].value]
        XCTAssertEqual(failures, [nil, nil, nil, nil])
        XCTAssertEqual(watch.metrics.calls, [.answered: 4, .refused: 1])
    }

    func testTurnThatACallWaitsForIsNotItsTime() async throws {
        // Given a call whose request waits for its turn at a busy host
        let (slots, gate) = (Slots<String>(SlotRules(places: 1, waiting: .everybody(8))), Gate())
        let place = try await slots.enter("host", within: .seconds(60))
        let waiting = source(time: .seconds(2)) { _ throws(SourceError) in
            do { try await slots.enter("host", within: .seconds(60)).leave() } catch { throw .unavailable(reason: "\(error)") }
        }
        async let answer = waiting.title("1")
        await waitWhile(slots.load(of: "host") < 2)
        // When another call with as much time has used it up
        let hanging = source(time: .seconds(2)) { _ in try? await gate.pass() }
        let late = await Self.failure(hanging)
        XCTAssertEqual(late, .unavailable(reason: "no answer in 2.0 seconds"))
        // Then the first one is still answered
        place.leave()
        let title = try await answer
        XCTAssertEqual(title.id, "1")
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
        // Then the time of the first failure counts, and neither an unknown title nor another call is a failure
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
        // When prefetching has used up all but the reserve
        await WorkContext.with({ $0.urgency = .prefetch }) { _ = await Self.failure(source) }
        // Then interactive calls are still allowed
        XCTAssertEqual(watch.health, .well)
        _ = await Self.failure(source)
        XCTAssertEqual(watch.health, .exhausted(until: until))
        clock.advance(by: .seconds(60))
        XCTAssertEqual(watch.health, .well)
    }

    func testLongPauseShowsAndEnds() async {
        // Given a service that wants no calls for a minute, and one that wants none for a day
        for (seconds, end) in [(59, nil), (60, 60), (86_400, 3600)] as [(Int, Double?)] {
            let source = source { _ throws(SourceError) in throw .rateLimited(retryAfter: seconds) }
            // When it is asked
            let error = await Self.failure(source)
            XCTAssertEqual(error, .rateLimited(retryAfter: Int(end ?? 59)))
            // Then the health says so until the pause ends, which is an hour at most
            XCTAssertEqual(watch.health, end.map { .limited(until: clock.now.addingTimeInterval($0)) } ?? .well)
            clock.advance(by: .seconds(end ?? 59))
            XCTAssertEqual(watch.health, .well)
        }
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
        XCTAssertEqual(watch.metrics.calls, [:])
    }

    func testThatAPluginThatComputesForEverHoldsNobodyElse() async throws {
        // Given more calls than processors to a plugin that computes until the test stops it
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        let (stop, spinning) = (Flag(), Flag())
        let greedy = source(time: .milliseconds(1500), calls: count) { _ in
            spinning.raise()
            // At most a minute
            let end = ContinuousClock.now + .seconds(60)
            while !stop.isRaised, ContinuousClock.now < end {}
        }
        let well = source { _ in }
        let errors = await withTaskGroup(of: SourceError?.self) { group in
            for _ in 0..<count { group.addTask { await Self.failure(greedy) } }
            await waitWhile(!spinning.isRaised || watch.metrics.underWay < count)
            // When another source is called, then it answers
            let title = try? await well.title("7")
            XCTAssertEqual(title?.id, "7")
            XCTAssertFalse(stop.isRaised)
            return await group.reduce(into: []) { $0.append($1) }
        }
        // And callers of the first get errors in time, and no more calls are made
        XCTAssertEqual(Set(errors.map { "\(String(describing: $0))" }).count, 1)
        XCTAssertEqual(errors.first, .unavailable(reason: "no answer in 1.5 seconds"))
        XCTAssertEqual(watch.metrics.underWay, count)
        let more = await Self.failure(greedy)
        XCTAssertEqual(more, .overloaded(retryAfter: 1))
        stop.raise()
        await waitWhile(watch.metrics.underWay > 0)
    }

    func testWaitForAThreadIsNotTheCallsTime() async throws {
        // Given two calls that take both threads of a source, and two that wait for one
        let doors = (0..<4).map { _ in ThreadDoor() }
        defer { doors.forEach { $0.open() } }
        let source = source(time: .seconds(3)) { id in doors[Int(id) ?? 0].pass() }
        let first = (0..<2).map { id in Task { await Self.failure(source, "\(id)") } }
        await waitWhile(doors[0].arrived + doors[1].arrived < 2)
        let waiting = (2..<4).map { id in Task { await Self.failure(source, "\(id)") } }
        await waitWhile(watch.metrics.underWay < 4)
        // When one of the first ends, so that one of the others takes its thread and keeps it
        doors[0].open()
        let ended = await first[0].value
        XCTAssertNil(ended)
        let errors = [await waiting[0].value, await waiting[1].value]
        // Then that one is late, and the other one has not had its time
        XCTAssertTrue(errors.contains(.unavailable(reason: "no answer in 3.0 seconds")), "\(errors)")
        XCTAssertTrue(errors.contains(.overloaded(retryAfter: 1)), "\(errors)")
        XCTAssertEqual(watch.metrics.calls[.refused], 1)
        doors.forEach { $0.open() }
        _ = await first[1].value
        await waitWhile(watch.metrics.underWay > 0)
    }

    func testThatActorsInAPluginRunOnItsThreadsToo() async throws {
        // Given a plugin with an actor, and more calls than processors
        let (stop, spinning) = (Flag(), Flag())
        let counters = (0..<ProcessInfo.processInfo.activeProcessorCount + 4).map { _ in Counter() }
        let greedy = source(time: .milliseconds(50), calls: 1000) { id in
            await counters[Int(id) ?? 0].spin(until: stop, telling: spinning)
        }
        await withTaskGroup(of: Void.self) { group in
            for number in counters.indices { group.addTask { _ = await Self.failure(greedy, "\(number)") } }
            await waitWhile(!spinning.isRaised)
            // When other tasks run, then they are not delayed
            let sum = await withTaskGroup(of: Int.self) { group in
                for number in 0..<100 { group.addTask { number } }
                return await group.reduce(0, +)
            }
            XCTAssertEqual(sum, 4950)
            XCTAssertFalse(stop.isRaised)
        }
        stop.raise()
        await waitWhile(watch.metrics.underWay > 0)
    }

    func testThatLookingForChangesMayTakeForEverAndIsLeftWhenNobodyFollows() async throws {
        // Given a plugin whose poll for changes never returns
        let door = ThreadDoor()
        defer { door.open() }
        struct Watching: ContentSource {
            let door: ThreadDoor
            let originPolicy = OriginPolicy()
            func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { TitlePage(titles: []) }
            func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
            func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
            func changes() async throws(SourceError) -> TitleChanges? {
                door.pass()
                return .all
            }
        }
        let source = WatchedSource(Watching(door: door), watch: watch)
        let following = Task { try await source.changes() }
        await door.hasBeenReached()
        // When the server ends, then it does not wait for it
        following.cancel()
        let result = await following.result
        XCTAssertThrowsError(try result.get())
    }

    func testThatWhatIsFetchedForAPluginIsCountedUntilItsCallEnds() async throws {
        // Given memory for one document of a hundred bytes and its decoded form
        let (memory, gate, transport) = (MemoryBudget(limit: 1000), Gate(), FakeTransport())
        transport.on("http://127.0.0.1/list", String(repeating: "x", count: 100))
        let limited = LimitedTransport(transport, SourceLimits(), memory: memory)
        let policy = OriginPolicy(networks: [.loopback])
        let source = source { id throws(SourceError) in
            do {
                _ = try await limited.get(HTTPRequest(url: "http://127.0.0.1/list"), under: policy)
                if id == "holds" { try await gate.pass() }
            } catch {
                throw .unavailable(reason: "\(error)")
            }
        }
        // When a call holds it, then another one finds no room
        let holding = Task { try await source.title("holds") }
        await gate.hasBeenReached()
        XCTAssertEqual(memory.reserved, 800)
        let refused = await Self.failure(source, "2")
        XCTAssertEqual(refused?.description.contains("lack of memory"), true, "\(String(describing: refused))")
        // And after the first has ended there is room
        gate.open()
        _ = try await holding.value
        await waitWhile(memory.reserved > 0)
        let answered = await Self.failure(source, "3")
        XCTAssertNil(answered)
    }

    func testThatPicturesAndAnswersAreHeldToItsBytes() {
        // Given the plugin's limit of 1000 bytes
        let policies = [nil, 500, 5000].map { source(bytes: $0) { _ in }.originPolicy }
        // Then the smaller limit applies
        XCTAssertEqual(policies.map(\.maxBytes), [1000, 500, 1000])
    }
}
