import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// Retries, rest and the circuit breaker, without a network and without waiting.
final class OriginMannersTests: XCTestCase {
    private let clock = ManualClock()
    private let pauses = Pauses()

    func testThatAFailureIsTriedAgainAfterARandomPauseThatDoubles() async throws {
        let calls = Script([.failure(failed), .success(503), .success(200)])
        let answer = try await manners().ask(url) { () async throws(HTTPTransportError) in try calls.next() }
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(calls.count, 3)
        XCTAssertEqual(pauses.all, [.milliseconds(50), .milliseconds(100)])
    }

    func testThatWhatIsNotGoneTheNextMomentIsNotTriedAgain() async {
        for outcome: Script.Outcome in [
            .success(200), .success(404), .success(500), .success(429), .failure(.timedOut(url: "u")),
            .failure(.tooLarge(url: "u", limit: 1)), .failure(.forbidden(url: "u", reason: "r")), .failure(.invalidURL("u")),
        ] {
            let calls = Script([outcome])
            _ = await failure(manners(), calls)
            XCTAssertEqual(calls.count, 1, "\(outcome)")
        }
        XCTAssertEqual(pauses.all, [])
    }

    func testThatAHostThatFailsAgainAndAgainIsLeftAlone() async {
        // Given a host that failed five times
        let manners = manners()
        let calls = Script(repeating: .failure(.timedOut(url: "u")))
        for _ in 0..<5 { _ = await failure(manners, calls) }
        // When it is asked once more
        let error = await failure(manners, calls)
        // Then nothing is sent, and the caller knows when to come back
        XCTAssertEqual(error, .unavailable(url: url.description, retryAfter: 10))
        XCTAssertEqual(calls.count, 5)
        // And another host is not affected
        let other = Script([.success(200)])
        let answer = try? await manners.ask(WebURL("http://other.example/")!) { () async throws(HTTPTransportError) in
            try other.next()
        }
        XCTAssertEqual(answer?.status, 200)
    }

    func testThatAfterThePauseOneFindsOutForAll() async {
        // Given a circuit that was opened
        let manners = manners()
        for _ in 0..<5 { _ = await failure(manners, Script([.failure(.timedOut(url: "u"))])) }
        clock.advance(by: .seconds(10))
        // When one asks, and meanwhile another
        let trial = Script([.failure(.timedOut(url: "u"))])
        let tried = await failure(manners, trial)
        let meanwhile = await failure(manners, trial)
        XCTAssertEqual(tried, .timedOut(url: "u"))
        XCTAssertEqual(meanwhile, .unavailable(url: url.description, retryAfter: 10))
        XCTAssertEqual(trial.count, 1)
        // Then the host is well again with the first that succeeds
        clock.advance(by: .seconds(10))
        let good = Script([.success(200), .success(200)])
        let first = await failure(manners, good)
        let second = await failure(manners, good)
        XCTAssertNil(first)
        XCTAssertNil(second)
    }

    func testThatAHostsWordIsHonoured() async {
        let inAMinute = "Sat, 21 Nov 2026 12:01:00 GMT"
        for (word, rest) in [("30", 30), (inAMinute, 60), ("999999", 600), ("0", 1), ("-5", 1)] {
            for status in [429, 503] {
                let manners = manners()
                let calls = Script([.success(status, ["retry-after": word])])
                _ = await failure(manners, calls)
                let error = await failure(manners, calls)
                XCTAssertEqual(error, .unavailable(url: url.description, retryAfter: rest), word)
                XCTAssertEqual(calls.count, 1)
            }
        }
    }

    func testThatAClockThatIsSetBackDoesNotKeepAHostWaiting() async {
        // Given a host that asked to be left alone for half a minute
        let manners = manners()
        let calls = Script([.success(503, ["retry-after": "30"]), .success(200)])
        _ = await failure(manners, calls)
        // When the clock is set back by a day
        clock.advance(by: .seconds(-86_400))
        // Then it is asked, and not left alone for a day
        let error = await failure(manners, calls)
        XCTAssertNil(error)
        XCTAssertEqual(calls.count, 2)
    }

    func testThatAFullLineIsNotTheHostsFault() async throws {
        // Given a host that has as many requests as it may, and no line
        let (gate, url, breaker) = (Gate(), url, CircuitBreaker(clock: clock.wallClock))
        let manners = OriginManners(
            slots: HostSlots(limit: 1, queue: 0, clock: clock.wallClock), breaker: breaker,
            retry: Retry(random: { 0.5 }, sleep: { [pauses] in pauses.add($0) }), clock: clock.wallClock)
        let working = Task {
            try await manners.ask(url) { () async throws(HTTPTransportError) in
                do { try await gate.pass() } catch { throw .timedOut(url: "u") }
                return HTTPAnswer(status: 200)
            }
        }
        await gate.hasBeenReached()
        for _ in 0..<10 {
            // When more come
            let calls = Script([])
            let error = await failure(manners, calls)
            // Then they are told when to come back, at once and without another try
            XCTAssertEqual(error, .crowded(url: url.description, retryAfter: 1))
        }
        XCTAssertEqual(pauses.all, [])
        // And the host counts as well
        XCTAssertNil(breaker.wait(for: OriginHost(url)))
        gate.open()
        _ = try await working.value
    }

    private let url = WebURL("http://films.example/1.jpg")!
    private let failed = HTTPTransportError.failed(url: "u", reason: "reset")

    private func manners() -> OriginManners {
        OriginManners(
            slots: HostSlots(limit: 8, queue: 8, clock: clock.wallClock), breaker: CircuitBreaker(clock: clock.wallClock),
            retry: Retry(random: { 0.5 }, sleep: { [pauses] in pauses.add($0) }), clock: clock.wallClock)
    }

    private func failure(_ manners: OriginManners, _ calls: Script) async -> HTTPTransportError? {
        do throws(HTTPTransportError) {
            _ = try await manners.ask(url) { () async throws(HTTPTransportError) in try calls.next() }
            return nil
        } catch {
            return error
        }
    }
}

/// What a retry would have slept for.
private final class Pauses: Sendable {
    private let slept = Mutex<[Duration]>([])
    var all: [Duration] { slept.withLock { $0 } }
    func add(_ pause: Duration) { slept.withLock { $0.append(pause) } }
}

/// Outcomes one after another.
private final class Script: Sendable {
    enum Outcome {
        case success(Int, [String: String] = [:])
        case failure(HTTPTransportError)
    }

    private struct State {
        var outcomes: [Outcome]
        var count = 0
    }

    private let state: Mutex<State>
    private let repeats: Bool

    init(_ outcomes: [Outcome]) {
        state = Mutex(State(outcomes: outcomes))
        repeats = false
    }

    init(repeating outcome: Outcome) {
        state = Mutex(State(outcomes: [outcome]))
        repeats = true
    }

    var count: Int { state.withLock { $0.count } }

    func next() throws(HTTPTransportError) -> HTTPAnswer {
        let outcome = state.withLock { state in
            state.count += 1
            return repeats ? state.outcomes[0] : state.outcomes.removeFirst()
        }
        switch outcome {
        case .success(let status, let headers): return HTTPAnswer(status: status, headers: headers)
        case .failure(let error): throw error
        }
    }
}
