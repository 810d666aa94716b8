import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// A throttle without a network and without waiting.
class OriginThrottleTestCase: XCTestCase {
    let clock = ManualClock()
    let pauses = Pauses()
    let url = WebURL("http://films.example/1.jpg")!
    let failed = ExchangeFailure(.broken("reset"), .waiting)
    let silent = ExchangeFailure(.timedOut, .waiting)

    func throttle() -> OriginThrottle {
        OriginThrottle(
            slots: Slots(SlotRules(places: 8, waiting: .everybody(8))), breaker: CircuitBreaker(clock: clock.wallClock),
            retry: Retry(random: { 0.5 }, sleep: { [pauses] in pauses.add($0) }), clock: clock.wallClock)
    }

    func failure(
        _ throttle: OriginThrottle, _ calls: Script, path: String = "1.jpg", isNamed: Bool = true, isChosen: Bool = false
    ) async -> HTTPTransportError? {
        await Self.failure(throttle, calls, path: path, isNamed: isNamed, isChosen: isChosen)
    }

    static func failure(
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
final class Pauses: Sendable {
    private let slept = Mutex<[Duration]>([])
    var all: [Duration] { slept.withLock { $0 } }
    func add(_ pause: Duration) { slept.withLock { $0.append(pause) } }
}

/// A sequence of outcomes.
final class Script: Sendable {
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
