import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Pauses of hosts that cannot be reached or do not answer, the trials after them, and the health of hosts.
final class HostPauseTests: OriginThrottleTestCase {
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

    func testFailureOfAProxyLeavesTheTrialToTheNext() async {
        // Given a host whose pause is over
        let throttle = throttle()
        for number in 0..<5 { _ = await failure(throttle, Script(repeating: .failure(failed)), path: "\(number)") }
        clock.advance(by: .seconds(11))
        // When a request does not get past its proxy
        let refused = Script(repeating: .failure(ExchangeFailure(.proxy("the proxy fails"), .connecting)))
        let error = await failure(throttle, refused, path: "5")
        XCTAssertEqual(error, .failed(url: "http://films.example/5", reason: "the proxy fails"))
        XCTAssertEqual(refused.count, 1)
        // Then the next one finds out how the host is
        let calls = Script([.success(200)])
        let next = await failure(throttle, calls, path: "6")
        XCTAssertNil(next)
        XCTAssertEqual(calls.count, 1)
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
        // Then it fails, even after the pause if nobody has asked the host again
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

    func testHostWithSomeAnswersIsNotPaused() async {
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

    func testTrialIsLeftForOthersThanManyClientsTogether() async {
        // Given a host after a pause, and eight clients whose URLs hang and take all trials, pause after pause
        let throttle = throttle()
        let hanging = Script(repeating: .failure(silent))
        func hang(_ pause: Int) async {
            for client in 1...8 {
                await WorkContext.with({ $0.clients = FlightClients([ClientKey([UInt8(client)])]) }) {
                    for number in 0..<3 { _ = await failure(throttle, hanging, path: "hangs\(pause)-\(client)-\(number)") }
                }
            }
        }
        for number in 0..<5 { _ = await failure(throttle, hanging, path: "\(number)") }
        for pause in 0..<3 {
            clock.advance(by: .seconds(10))
            await hang(pause)
        }
        // When another client asks for a good one after them
        let error = await WorkContext.with({ $0.clients = FlightClients([ClientKey([9])]) }) {
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
}
