import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Pauses that hosts ask for (`Retry-After`).
final class AskedPauseTests: OriginThrottleTestCase {
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

    func testHostThatAnswersMostIsNotPaused() async {
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
}
