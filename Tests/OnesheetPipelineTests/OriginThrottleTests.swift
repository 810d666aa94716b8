import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Retries, and what a caller learns of a failure.
final class OriginThrottleTests: OriginThrottleTestCase {
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

    func testAFullLineHidesNoFailureOfTheHost() async throws {
        // Given a host that does not answer
        let (url, breaker) = (url, CircuitBreaker(clock: clock.wallClock))
        for number in 1...CircuitBreaker.failures {
            // When others take its only slot before the second attempt
            let (gate, slots) = (Gate(), Slots<OriginHost>(SlotRules(places: 1, waiting: .everybody(0))))
            let retry = Retry(
                random: { 0.5 },
                sleep: { _ in
                    Task { try await slots.with(OriginHost(url), within: .seconds(60)) { _ in try await gate.pass() } }
                    await gate.hasBeenReached()
                })
            let throttle = OriginThrottle(slots: slots, breaker: breaker, retry: retry, clock: clock.wallClock)
            let error = await failure(throttle, Script([.failure(failed)]), path: "\(number).jpg")
            gate.open()
            // Then the request fails as its first attempt did
            guard case .failed = error else { return XCTFail("\(String(describing: error))") }
        }
        // And the host rests
        XCTAssertNotEqual(breaker.admission(of: url), .now)
    }

    func testALostTurnHidesNoFailureOfTheHost() async {
        let throttle = throttle()
        for number in 1...CircuitBreaker.failures {
            let url = WebURL("http://films.example/\(number).jpg")!
            let calls = Script([.failure(failed)])
            do throws(HTTPTransportError) {
                _ = try await throttle.ask(
                    url, again: { () async throws(HTTPTransportError) in throw .crowded(url: "", retryAfter: 1) }
                ) { attempt async throws(ExchangeFailure) in try calls.next(attempt) }
                XCTFail("answered")
            } catch {
                guard case .failed = error else { return XCTFail("\(error)") }
            }
        }
        XCTAssertNotEqual(throttle.breaker.admission(of: url), .now)
    }
}
