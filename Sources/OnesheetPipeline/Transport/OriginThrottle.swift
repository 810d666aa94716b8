import FoundationEssentials
import OnesheetCore
import OnesheetTransport
import OnesheetHTTP

/// Limits the load on origins: bounded concurrency, retries with backoff, and pauses for hosts that fail or ask for them.
struct OriginThrottle: Sendable {
    /// One attempt of a request.
    struct Attempt: Sendable {
        let place: Slots<OriginHost>.Place
        /// Whether it needs a new connection, because an attempt before it failed.
        let needsNewConnection: Bool
    }

    let slots: Slots<OriginHost>
    let breaker: CircuitBreaker
    let retry: Retry
    let clock: WallClock

    /// The result of `send` for the host of `url`.
    /// - Parameters:
    ///   - isNamed: whether the operator named the host.
    ///   - isChosen: whether a visitor chose the URL.
    ///   - time: the time for all attempts, without their waits for a slot.
    ///   - turn: waits for the turn of each attempt after the first.
    func ask(
        _ url: WebURL, isNamed: Bool = true, isChosen: Bool = false, in time: OriginTime = OriginTime(Limits().originTimeout),
        again turn: @Sendable () async throws(HTTPTransportError) -> Void = {},
        _ send: @Sendable (Attempt) async throws(ExchangeFailure) -> HTTPAnswer
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        let host = OriginHost(url)
        var pauses = retry.pauses
        // The last attempt, if no answer came. It tells of the host, also if the next one gets no turn.
        var unanswered: (failure: ExchangeFailure, began: Date)?
        func hostFailure() -> HTTPTransportError? {
            guard let (failure, began) = unanswered else { return nil }
            breaker.failed(url, failure.isSilence ? .silent : .unreachable, since: began)
            return failure.error(at: url, isNamed: isNamed)
        }
        for attempt in 1... {
            let admission = breaker.admission(of: url)
            if case .later(let seconds) = admission { throw .unavailable(url: url.description, retryAfter: seconds) }
            let isTrial = admission == .trial
            let isLast = attempt == retry.attempts
            let began = clock.now
            do {
                let answer = try await slots.with(host, within: time.longestWait) { place in
                    time.waited(place.waited)
                    // Others have used up the time, such as a host that redirected here.
                    if time.isOver { throw NotAsked.late }
                    // The host may have been paused while this request waited for its slot.
                    if !isTrial, let seconds = breaker.pause(of: url) { throw NotAsked.paused(seconds) }
                    return try await send(Attempt(place: place, needsNewConnection: attempt > 1))
                }
                if answer.isOverload, let seconds = answer.retryAfter(at: clock.now) {
                    // A URL is not asked for before the time that its host names.
                    breaker.leave(url, for: seconds, isChosen: isChosen, isTrial: isTrial)
                    return answer
                }
                breaker.answered(url, isTrial: isTrial)
                unanswered = nil
                guard answer.isOverload else { return answer }
                if isLast || answer.status == 429 { return answer }
            } catch let failure as ExchangeFailure {
                // A cancelled request does not count against its host.
                if Task.isCancelled {
                    if isTrial { breaker.giveBack(url) }
                    throw failure.error(at: url, isNamed: isNamed)
                }
                if failure.isAnswered { breaker.answered(url, isTrial: isTrial) }
                let isOurs = isNamed && failure.isRefusal
                unanswered = failure.isUnanswered && !failure.isAnswered && !isOurs ? (failure, began) : nil
                if isLast || isOurs || !failure.isWorthAnotherTry || time.isOver {
                    if let error = hostFailure() { throw error }
                    // Not the host is to blame, so its trial is still to come.
                    if isTrial, !failure.isAnswered { breaker.giveBack(url) }
                    throw failure.error(at: url, isNamed: isNamed)
                }
            } catch NotAsked.paused(let seconds) {
                throw .unavailable(url: url.description, retryAfter: seconds)
            } catch NoPlace.full(let seconds) {
                if let error = hostFailure() { throw error }
                if isTrial { breaker.giveBack(url) }
                throw .crowded(url: url.description, retryAfter: seconds)
            } catch NotAsked.late {
                if let error = hostFailure() { throw error }
                if isTrial { breaker.giveBack(url) }
                throw .timedOut(url: url.description)
            } catch {
                if isTrial { breaker.giveBack(url) }
                throw .failed(url: url.description, reason: "cancelled")
            }
            do { try await retry.wait(upTo: pauses.next()) } catch {
                if isTrial { breaker.giveBack(url) }
                throw .failed(url: url.description, reason: "cancelled")
            }
            do throws(HTTPTransportError) { try await turn() } catch {
                if !Task.isCancelled, let error = hostFailure() { throw error }
                if isTrial { breaker.giveBack(url) }
                throw error
            }
        }
        preconditionFailure("the last attempt ends it")
    }
}

/// Why a request that had a slot did not ask its host.
private enum NotAsked: Error {
    /// The host was paused meanwhile; the value is in seconds.
    case paused(Int)
    /// The time of the request was over.
    case late
}

extension ExchangeFailure {
    fileprivate var isRefusal: Bool {
        if case .refused = kind { return true }
        return false
    }

    /// Whether the connection was made and then timed out.
    fileprivate var isSilence: Bool {
        if case .timedOut = kind { return stage > .connecting }
        return false
    }
}

extension HTTPAnswer {
    /// Whether the host or its proxy is overloaded (RFC 6585 §4, RFC 9110 §15.6.3).
    fileprivate var isOverload: Bool { status == 429 || (502...504).contains(status) }
}

/// The number and times of retries after transient failures: exponential backoff with full jitter, so that requests that failed
/// together do not retry together.
package struct Retry: Sendable {
    /// Attempts in total.
    let attempts: Int
    /// The longest waits: before the second attempt, the third, and so on.
    let pauses: Backoff
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - pause: the longest wait before the second attempt.
    ///   - random: returns a number from 0 to 1.
    ///   - sleep: waits for a host, which recovers in real time. Tests replace it.
    package init(
        attempts: Int = 3, pause: Duration = .milliseconds(100), random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.attempts = attempts
        pauses = Backoff(from: pause, upTo: .seconds(60))
        self.random = random
        self.sleep = sleep
    }

    /// Waits for a random time of at most `pause`.
    /// - Throws: if the caller is cancelled.
    func wait(upTo pause: Duration) async throws { try await sleep(pause * random()) }
}
