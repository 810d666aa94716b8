import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Retries, pauses and the circuit breaker, without a network and without waiting.
final class OriginThrottleTests: XCTestCase {
    private let clock = ManualClock()
    private let pauses = Pauses()

    func testThatAFailureIsTriedAgainAfterARandomPauseThatDoubles() async throws {
        let calls = Script([.failure(failed), .success(503), .success(200)])
        let answer = try await throttle().ask(url) { attempt async throws(ExchangeFailure) in try calls.next(attempt) }
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(calls.count, 3)
        XCTAssertEqual(pauses.all, [.milliseconds(50), .milliseconds(100)])
        // And every retry after a failure uses a new connection
        XCTAssertEqual(calls.newConnections, [false, true, true])
    }

    func testThatWhatIsNotGoneTheNextMomentIsNotTriedAgain() async {
        for outcome: Script.Outcome in [
            .success(200), .success(404), .success(500), .success(429), .failure(silent),
            .failure(ExchangeFailure(.tooLarge(1), .answered)), .failure(ExchangeFailure(.refused([]), .connecting)),
            .failure(ExchangeFailure(.unusable("u"), .answered)), .failure(ExchangeFailure(.noMemory, .answered)),
        ] {
            let calls = Script([outcome])
            _ = await failure(throttle(), calls)
            XCTAssertEqual(calls.count, 1, "\(outcome)")
        }
        XCTAssertEqual(pauses.all, [])
    }

    func testThatAHostThatCannotBeReachedIsLeftAlone() async {
        // Given a host that was unreachable for five different URLs
        let throttle = throttle()
        for number in 0..<5 { _ = await failure(throttle, Script(repeating: .failure(failed)), path: "\(number)") }
        // When it is requested again
        let calls = Script([])
        let error = await failure(throttle, calls, path: "5")
        // Then no request is sent, and the error has the time for a retry
        XCTAssertEqual(error, .unavailable(url: "http://films.example/5", retryAfter: 10))
        XCTAssertEqual(calls.count, 0)
        // And another host is not affected
        let other = Script([.success(200)])
        let answer = try? await throttle.ask(WebURL("http://other.example/")!) { attempt async throws(ExchangeFailure) in
            try other.next(attempt)
        }
        XCTAssertEqual(answer?.status, 200)
    }

    func testSlowFailuresMakeAHostIll() async {
        // Given a host that is asked so seldom that it is never paused
        let (throttle, host) = (throttle(), OriginHost(url))
        let began = clock.now
        for number in 0..<2 {
            _ = await failure(throttle, Script(repeating: .failure(failed)), path: "\(number % 2)")
            clock.advance(by: .seconds(60))
            _ = await failure(throttle, Script(repeating: .failure(failed)), path: "0")
        }
        XCTAssertEqual(throttle.breaker.health(of: host), .well, "two URLs may be bad ones")
        // When a third URL fails, too
        _ = await failure(throttle, Script(repeating: .failure(failed)), path: "2")
        // Then the host does, since the first failure, and is asked all the same
        XCTAssertEqual(
            throttle.breaker.health(of: host),
            .failing(
                since: began, reason: "a host of its images cannot be reached", details: "http://films.example:80"))
        XCTAssertEqual(throttle.breaker.troubledHosts, 1)
        // And an answer ends that, whatever it says
        _ = await failure(throttle, Script([.success(404)]), path: "3")
        XCTAssertEqual(throttle.breaker.health(of: host), .well)
        XCTAssertEqual(throttle.breaker.troubledHosts, 0)
    }

    func testPausesShowInTheHealthOfTheHost() async {
        // Given a host that was silent until it was paused
        let (silentOnes, host, began) = (throttle(), OriginHost(url), clock.now)
        for number in 0..<5 { _ = await failure(silentOnes, Script([.failure(silent)]), path: "\(number)") }
        // Then it fails, also when the pause is over and nobody has asked it again
        for _ in 0..<2 {
            XCTAssertEqual(
                silentOnes.breaker.health(of: host),
                .failing(since: began, reason: "a host of its images does not answer", details: "http://films.example:80"))
            clock.advance(by: .seconds(30))
        }
        // And a host that asked for its pause is limited until its end
        let askers = throttle()
        let until = clock.now.addingTimeInterval(40)
        for number in 0..<3 { _ = await failure(askers, Script([.success(503, ["retry-after": "40"])]), path: "\(number)") }
        XCTAssertEqual(askers.breaker.health(of: host), .limited(until: until))
        clock.advance(by: .seconds(41))
        XCTAssertEqual(askers.breaker.health(of: host), .well)
    }

    func testThatBadURLsDoNotCloseTheirHostForOthers() async {
        // Possible faults of single URLs: truncated, refused, hanging, too large, not a picture
        let outcomes: [Script.Outcome] = [
            .failure(ExchangeFailure(.broken("cut"), .answered)), .success(500), .success(503), .success(404),
            .failure(ExchangeFailure(.tooLarge(1), .answered)), .failure(ExchangeFailure(.timedOut, .answered)),
            .failure(ExchangeFailure(.broken("no head"), .begun)), .failure(ExchangeFailure(.timedOut, .begun)),
        ]
        for outcome in outcomes {
            // Given fifty different bad URLs
            let throttle = throttle()
            for number in 0..<50 { _ = await failure(throttle, Script(repeating: outcome), path: "bad\(number)") }
            // When good ones are requested
            for number in 0..<40 {
                let error = await failure(throttle, Script([.success(200)]), path: "\(number)")
                // Then each is fetched
                XCTAssertNil(error, "\(outcome)")
            }
        }
    }

    func testThatOneURLThatCannotBeReachedIsNotItsHost() async {
        // Given one URL that disconnects again and again
        let throttle = throttle()
        for _ in 0..<50 { _ = await failure(throttle, Script(repeating: .failure(failed))) }
        // When another is requested
        let error = await failure(throttle, Script([.success(200)]), path: "good")
        // Then it is fetched
        XCTAssertNil(error)
    }

    func testThatAHostThatAnswersSomethingIsNotLeftAloneForWhatHangs() async {
        // Given many hanging URLs, and one response among them
        let throttle = throttle()
        for number in 0..<20 {
            _ = await failure(throttle, Script([.failure(silent)]), path: "hangs\(number)")
            if number == 1 { _ = await failure(throttle, Script([.success(200)]), path: "good") }
        }
        // When another is requested
        let error = await failure(throttle, Script([.success(200)]), path: "other")
        // Then it is fetched
        XCTAssertNil(error)
    }

    func testHostThatAnswersOthersIsNotSilent() async {
        // Given an answer, and many hanging URLs behind it
        let throttle = throttle()
        _ = await failure(throttle, Script([.success(200)]), path: "good")
        clock.advance(by: .seconds(5))
        for number in 0..<10 { _ = await failure(throttle, Script([.failure(silent)]), path: "hangs\(number)") }
        // When another is requested, then it is fetched
        let error = await failure(throttle, Script([.success(200)]), path: "other")
        XCTAssertNil(error)
        // And when nothing was answered for a while, it is not
        clock.advance(by: .seconds(11))
        for number in 0..<10 { _ = await failure(throttle, Script([.failure(silent)]), path: "hangs\(number)") }
        let paused = await failure(throttle, Script([.success(200)]), path: "other")
        XCTAssertEqual(paused, .unavailable(url: "http://films.example/other", retryAfter: 10))
    }

    func testAnswerDuringLongSilenceCounts() {
        // Given a host that answers one request while others wait for half a minute
        let breaker = CircuitBreaker(clock: clock.wallClock)
        let began = clock.now
        clock.advance(by: .seconds(15))
        breaker.answered(url)
        clock.advance(by: .seconds(15))
        // When these fail
        for number in 0..<10 { breaker.failed(WebURL("http://films.example/\(number)")!, .silent, since: began) }
        // Then the host is not paused
        XCTAssertEqual(breaker.admission(of: url), .now)
    }

    func testTrialIsLeftForOtherClients() async {
        // Given a host after a pause, and one client whose URLs hang and take the trials
        let throttle = throttle()
        let hanging = Script(repeating: .failure(silent))
        for number in 0..<5 { _ = await failure(throttle, hanging, path: "\(number)") }
        clock.advance(by: .seconds(10))
        for number in 0..<20 { _ = await failure(throttle, hanging, path: "hangs\(number)") }
        // When another client asks for a good one
        let error = await WorkContext.with({ $0.clients = FlightClients([ClientKey([1])]) }) {
            await failure(throttle, Script([.success(200)]), path: "good")
        }
        // Then it is fetched, and the host is open to all
        XCTAssertNil(error)
        let own = await failure(throttle, Script([.success(200)]), path: "own")
        XCTAssertNil(own)
    }

    func testTrialsAreBounded() async {
        // Given a host after a pause
        let throttle = throttle()
        let hanging = Script(repeating: .failure(silent))
        for number in 0..<5 { _ = await failure(throttle, hanging, path: "\(number)") }
        clock.advance(by: .seconds(10))
        // When many clients ask
        for client in 0..<50 {
            _ = await WorkContext.with({ $0.clients = FlightClients([ClientKey([UInt8(client)])]) }) {
                await failure(throttle, hanging, path: "hangs\(client)")
            }
        }
        // Then eight requests are sent
        XCTAssertEqual(hanging.count, 5 + 8)
    }

    func testThatOldFailuresDoNotCount() async {
        // Given four failures, and ten seconds later four more
        let throttle = throttle()
        for number in 0..<4 { _ = await failure(throttle, Script([.failure(silent)]), path: "\(number)") }
        clock.advance(by: .seconds(10))
        for number in 4..<8 { _ = await failure(throttle, Script([.failure(silent)]), path: "\(number)") }
        // Then the host is still requested
        let error = await failure(throttle, Script([.success(200)]))
        XCTAssertNil(error)
    }

    func testThatAfterThePauseAFewFindOutForAll() async {
        // Given an open circuit
        let throttle = throttle()
        for number in 0..<5 { _ = await failure(throttle, Script([.failure(silent)]), path: "\(number)") }
        clock.advance(by: .seconds(10))
        // When many requests come
        let trial = Script(repeating: .failure(silent))
        var told: [HTTPTransportError?] = []
        for number in 0..<8 { told.append(await failure(throttle, trial, path: "trial\(number)")) }
        // Then four are sent, so that one busy client is not the only one
        XCTAssertEqual(trial.count, 4)
        XCTAssertEqual(told.last, .unavailable(url: "http://films.example/trial7", retryAfter: 10))
        // And the first success closes the circuit
        clock.advance(by: .seconds(10))
        for number in 0..<20 {
            let error = await failure(throttle, Script([.success(200)]), path: "good\(number)")
            XCTAssertNil(error)
        }
    }

    func testThatAWordAboutOneURLIsHonouredForThatURL() async {
        let inAMinute = "Sat, 21 Nov 2026 12:01:00 GMT"
        for (word, rest) in [("30", 30), (inAMinute, 60), ("999999", 600), ("0", 1), ("-5", 1)] {
            for status in [429, 503] {
                // Given a URL whose host sent `Retry-After`
                let throttle = throttle()
                let calls = Script([.success(status, ["retry-after": word])])
                _ = await failure(throttle, calls)
                // When it is requested again
                let error = await failure(throttle, calls)
                // Then no request is sent, and the error has the remaining time
                XCTAssertEqual(error, .unavailable(url: url.description, retryAfter: rest), word)
                XCTAssertEqual(calls.count, 1)
                // And other URLs of the host are fetched
                let other = await failure(throttle, Script([.success(200)]), path: "other")
                XCTAssertNil(other)
            }
        }
    }

    func testThatAHostThatAsksForSeveralURLsIsLeftAlone() async {
        // Given a host that sends `Retry-After` for three URLs
        let throttle = throttle()
        for (number, word) in ["60", "30", "90"].enumerated() {
            _ = await failure(throttle, Script([.success(429, ["retry-after": word])]), path: "\(number)")
        }
        // When another is requested
        let error = await failure(throttle, Script([]), path: "other")
        // Then the host is paused for the shortest of these times
        XCTAssertEqual(error, .unavailable(url: "http://films.example/other", retryAfter: 30))
    }

    func testThatVisitorsPauseAHostForSecondsAndNotForAsLongAsItAsks() async {
        // Given a host that asks for ten minutes, for three URLs that visitors have chosen
        let throttle = throttle()
        let asking = Script(repeating: .success(503, ["retry-after": "600"]))
        for number in 0..<3 { _ = await failure(throttle, asking, path: "\(number)", isChosen: true) }
        // When another is requested
        var error = await failure(throttle, Script([]), path: "other", isChosen: true)
        // Then the host is paused for ten seconds
        XCTAssertEqual(error, .unavailable(url: "http://films.example/other", retryAfter: 10))
        clock.advance(by: .seconds(10))
        error = await failure(throttle, Script([.success(200)]), path: "other", isChosen: true)
        XCTAssertNil(error)
        // And each of these URLs for as long as the host asked
        error = await failure(throttle, Script([]), path: "1", isChosen: true)
        XCTAssertEqual(error, .unavailable(url: "http://films.example/1", retryAfter: 590))
    }

    func testThatAPausedHostIsSparedByThoseWhoWaitedAndByTrials() async throws {
        // Given a host whose only slot is taken, and ten requests that wait for it
        let (gate, url, breaker) = (Gate(), url, CircuitBreaker(clock: clock.wallClock))
        let slots = Slots<OriginHost>(SlotRules(places: 1, waiting: .everybody(64)))
        let throttle = OriginThrottle(
            slots: slots, breaker: breaker, retry: Retry(random: { 0.5 }, sleep: { [pauses] in pauses.add($0) }),
            clock: clock.wallClock)
        let asking: Script.Outcome = .success(429, ["retry-after": "600"])
        for number in 0..<2 { _ = await failure(throttle, Script([asking]), path: "\(number)", isChosen: true) }
        let working = Task {
            try await throttle.ask(url, isChosen: true) { _ async throws(ExchangeFailure) in
                do { try await gate.pass() } catch { throw ExchangeFailure(.timedOut, .waiting) }
                return HTTPAnswer(status: 429, headers: ["retry-after": "600"])
            }
        }
        await gate.hasBeenReached()
        let later = Script(repeating: asking)
        async let waiting = withTaskGroup(of: HTTPTransportError?.self) { group in
            for number in 0..<10 {
                group.addTask { await Self.failure(throttle, later, path: "waiting\(number)", isChosen: true) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await waitWhile(slots.load(of: OriginHost(url)) < 11)
        // When the request in the slot is the third that is asked to pause
        gate.open()
        _ = try await working.value
        // Then none of those that wait is sent
        for error in await waiting {
            guard case .unavailable(_, 10)? = error else { return XCTFail("\(String(describing: error))") }
        }
        XCTAssertEqual(later.count, 0)
        // And after the pause, four trials are sent, however many ask
        clock.advance(by: .seconds(10))
        for number in 0..<20 { _ = await failure(throttle, later, path: "later\(number)", isChosen: true) }
        XCTAssertEqual(later.count, 4)
        // And one that is answered opens the host for all
        clock.advance(by: .seconds(10))
        _ = await failure(throttle, later, path: "bad", isChosen: true)
        for number in 0..<20 {
            let error = await failure(throttle, Script([.success(200)]), path: "good\(number)", isChosen: true)
            XCTAssertNil(error)
        }
    }

    func testThatAHostsOwnTrialPausesItForAsLongAsItAsks() async {
        // Given a host of the operator that asked to pause for half a minute
        let throttle = throttle()
        let asking = Script(repeating: .success(503, ["retry-after": "30"]))
        for number in 0..<3 { _ = await failure(throttle, asking, path: "\(number)") }
        clock.advance(by: .seconds(30))
        // When the first trial is asked to pause again
        for number in 0..<20 { _ = await failure(throttle, asking, path: "later\(number)") }
        // Then no other is sent
        XCTAssertEqual(asking.count, 4)
    }

    func testThatATrialThatIsNotSentIsGivenBack() async {
        // Given a host after a pause
        let breaker = CircuitBreaker(clock: clock.wallClock)
        for number in 0..<5 { breaker.failed(WebURL("http://films.example/\(number)")!, .unreachable, since: clock.now) }
        XCTAssertEqual(breaker.admission(of: url), .later(10))
        clock.advance(by: .seconds(10))
        // When trials are taken and given back
        for _ in 0..<20 {
            XCTAssertEqual(breaker.admission(of: url), .trial)
            breaker.giveBack(url)
        }
        // Then four are left
        for _ in 0..<4 { XCTAssertEqual(breaker.admission(of: url), .trial) }
        XCTAssertEqual(breaker.admission(of: url), .later(10))
    }

    func testThatAHostThatAnswersMostIsNotLeftAloneForAFewWords() async {
        // Given a host that answers ten URLs, and sends `Retry-After` for three
        let throttle = throttle()
        for number in 0..<3 {
            _ = await failure(throttle, Script([.success(503, ["retry-after": "600"])]), path: "bad\(number)")
            for good in 0..<4 { _ = await failure(throttle, Script([.success(200)]), path: "\(number)-\(good)") }
        }
        // When another is requested
        let error = await failure(throttle, Script([.success(200)]), path: "other")
        // Then it is fetched
        XCTAssertNil(error)
    }

    func testThatAClockThatIsSetBackDoesNotKeepAURLWaiting() async {
        // Given a URL that is paused for half a minute
        let throttle = throttle()
        let calls = Script([.success(503, ["retry-after": "30"]), .success(200)])
        _ = await failure(throttle, calls)
        // When the clock is set back by a day
        clock.advance(by: .seconds(-86_400))
        // Then it is requested, and not paused for a day
        let error = await failure(throttle, calls)
        XCTAssertNil(error)
        XCTAssertEqual(calls.count, 2)
    }

    func testThatWhatAStrangerChoseFailsInOneWay() async {
        // Given all reasons for a missing head of a response
        let failures = [
            ExchangeFailure(.refused([IPAddress("10.1.2.3")!]), .connecting), ExchangeFailure(.noAddress, .connecting),
            ExchangeFailure(.timedOut, .connecting), ExchangeFailure(.timedOut, .waiting), silent, failed,
            ExchangeFailure(.broken("garbage"), .begun), ExchangeFailure(.tooLarge(1), .begun),
        ]
        for failure in failures {
            // When a stranger chose the host
            let strange = await self.failure(throttle(), Script(repeating: .failure(failure)), isNamed: false)
            // Then each gives the same error
            XCTAssertEqual(strange, .failed(url: url.description, reason: "its host does not answer"), "\(failure)")
            // And for the operator's own host, the error has the reason without the address
            let known = await self.failure(throttle(), Script(repeating: .failure(failure)), isNamed: true)
            XCTAssertNotEqual(known, strange)
            XCTAssertFalse("\(String(describing: known))".contains("10.1.2.3"))
        }
    }

    func testThatARefusalAndAClosedPortRestAHostAlike() async {
        for failure in [ExchangeFailure(.refused([]), .connecting), failed] {
            // Given five URLs of a host that a stranger chose
            let throttle = throttle()
            let calls = Script(repeating: .failure(failure))
            for number in 0..<5 { _ = await self.failure(throttle, calls, path: "\(number)", isNamed: false) }
            // When there is one more
            let error = await self.failure(throttle, calls, path: "5", isNamed: false)
            // Then both hosts took the same number of attempts, and both are paused
            XCTAssertEqual(calls.count, 15)
            XCTAssertEqual(error, .unavailable(url: "http://films.example/5", retryAfter: 10))
        }
    }

    func testThatAFullLineIsNotTheHostsFault() async throws {
        // Given a host with all slots taken and no queue
        let (gate, url, breaker) = (Gate(), url, CircuitBreaker(clock: clock.wallClock))
        let throttle = OriginThrottle(
            slots: Slots(SlotRules(places: 1, waiting: .everybody(0))), breaker: breaker,
            retry: Retry(random: { 0.5 }, sleep: { [pauses] in pauses.add($0) }), clock: clock.wallClock)
        let working = Task {
            try await throttle.ask(url) { _ async throws(ExchangeFailure) in
                do { try await gate.pass() } catch { throw ExchangeFailure(.timedOut, .waiting) }
                return HTTPAnswer(status: 200)
            }
        }
        await gate.hasBeenReached()
        for _ in 0..<10 {
            // When more requests come
            let calls = Script([])
            let error = await failure(throttle, calls)
            // Then they are refused immediately with a time for a retry, and without another attempt
            XCTAssertEqual(error, .crowded(url: url.description, retryAfter: 1))
        }
        XCTAssertEqual(pauses.all, [])
        // And the host counts as healthy
        XCTAssertEqual(breaker.admission(of: url), .now)
        gate.open()
        _ = try await working.value
    }

    private let url = WebURL("http://films.example/1.jpg")!
    private let failed = ExchangeFailure(.broken("reset"), .waiting)
    private let silent = ExchangeFailure(.timedOut, .waiting)

    private func throttle() -> OriginThrottle {
        OriginThrottle(
            slots: Slots(SlotRules(places: 8, waiting: .everybody(8))), breaker: CircuitBreaker(clock: clock.wallClock),
            retry: Retry(random: { 0.5 }, sleep: { [pauses] in pauses.add($0) }), clock: clock.wallClock)
    }

    private func failure(
        _ throttle: OriginThrottle, _ calls: Script, path: String = "1.jpg", isNamed: Bool = true, isChosen: Bool = false
    ) async -> HTTPTransportError? {
        await Self.failure(throttle, calls, path: path, isNamed: isNamed, isChosen: isChosen)
    }

    private static func failure(
        _ throttle: OriginThrottle, _ calls: Script, path: String, isNamed: Bool = true, isChosen: Bool = false
    ) async -> HTTPTransportError? {
        do throws(HTTPTransportError) {
            let url = WebURL("http://films.example/\(path)")!
            _ = try await throttle.ask(url, isNamed: isNamed, isChosen: isChosen) { attempt async throws(ExchangeFailure) in
                try calls.next(attempt)
            }
            return nil
        } catch {
            return error
        }
    }
}

/// The sleeps before retries.
private final class Pauses: Sendable {
    private let slept = Mutex<[Duration]>([])
    var all: [Duration] { slept.withLock { $0 } }
    func add(_ pause: Duration) { slept.withLock { $0.append(pause) } }
}

/// A sequence of outcomes.
private final class Script: Sendable {
    enum Outcome {
        case success(Int, [String: String] = [:])
        case failure(ExchangeFailure)
    }

    private struct State {
        var outcomes: [Outcome]
        var newConnections: [Bool] = []
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

    /// Whether each call needed a new connection.
    var newConnections: [Bool] { state.withLock { $0.newConnections } }
    var count: Int { newConnections.count }

    func next(_ attempt: OriginThrottle.Attempt) throws(ExchangeFailure) -> HTTPAnswer {
        let outcome = state.withLock { state in
            state.newConnections.append(attempt.needsNewConnection)
            return repeats ? state.outcomes[0] : state.outcomes.removeFirst()
        }
        switch outcome {
        case .success(let status, let headers): return HTTPAnswer(status: status, headers: headers)
        case .failure(let error): throw error
        }
    }
}
