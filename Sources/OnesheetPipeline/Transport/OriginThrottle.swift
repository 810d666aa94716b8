import FoundationEssentials
import OnesheetCache
import OnesheetCore
import OnesheetHTTP

/// Limits the load on origins: bounded concurrency, retries with backoff, and pauses for hosts that fail or ask for them.
struct OriginThrottle: Sendable {
    /// One of the times that a request is sent.
    struct Attempt: Sendable {
        let place: HostSlots.Place
        /// Whether it has to go over a new connection: it failed before.
        let isFresh: Bool
    }

    let slots: HostSlots
    let breaker: CircuitBreaker
    let retry: Retry
    let clock: WallClock

    /// What `send` gets from the host of `url`.
    /// - Parameter isNamed: whether the operator named the host.
    func ask(
        _ url: WebURL, isNamed: Bool = true, _ send: @Sendable (Attempt) async throws(ExchangeFailure) -> HTTPAnswer
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        let host = OriginHost(url)
        for attempt in 1... {
            if let seconds = breaker.wait(for: url) { throw .unavailable(url: url.description, retryAfter: seconds) }
            let isLast = attempt == retry.attempts
            do {
                let answer = try await slots.with(host) { try await send(Attempt(place: $0, isFresh: attempt > 1)) }
                breaker.answered(url)
                guard answer.isOverload else { return answer }
                if let seconds = answer.retryAfter(at: clock.now) {
                    // A host that names a time is not asked before it.
                    breaker.leave(url, for: seconds)
                    return answer
                }
                if isLast || answer.status == 429 { return answer }
            } catch let failure as ExchangeFailure {
                // A cancelled request does not count against its host.
                if Task.isCancelled { throw failure.error(at: url, isNamed: isNamed) }
                if failure.stage == .answered { breaker.answered(url) }
                let isOurs = isNamed && failure.isRefusal
                if isLast || isOurs || !failure.isWorthAnotherTry {
                    if failure.isUnanswered, !isOurs { breaker.failed(url, failure.isSilence ? .silent : .unreachable) }
                    throw failure.error(at: url, isNamed: isNamed)
                }
            } catch let full as HostSlots.Full {
                throw .crowded(url: url.description, retryAfter: full.retryAfter)
            } catch {
                throw .failed(url: url.description, reason: "cancelled")
            }
            do { try await retry.wait(after: attempt) } catch { throw .failed(url: url.description, reason: "cancelled") }
        }
        preconditionFailure("the last attempt ends it")
    }
}

extension ExchangeFailure {
    fileprivate var isRefusal: Bool {
        if case .refused = kind { return true }
        return false
    }

    /// Whether there was a connection, and nothing came of it in time.
    fileprivate var isSilence: Bool {
        if case .timedOut = kind { return stage > .connecting }
        return false
    }
}

extension HTTPAnswer {
    /// Whether the host, or what stands before it, cannot keep up (RFC 6585 §4, RFC 9110 §15.6.3).
    fileprivate var isOverload: Bool { status == 429 || (502...504).contains(status) }

    /// Seconds after which to come back, where the host says so (RFC 9110 §10.2.3).
    func retryAfter(at now: Date) -> Double? {
        guard let text = headers["retry-after"] else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil } ?? HTTPDate.parse(text, now: now)?.timeIntervalSince(now)
    }
}

/// How often and when a request is sent again after a transient failure: with exponential backoff and full jitter, so that requests that
/// failed together do not return together.
package struct Retry: Sendable {
    /// Requests in all.
    let attempts: Int
    private let pause: Duration
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - pause: the longest before the second attempt.
    ///   - random: from 0 to 1.
    ///   - sleep: waiting for an outside host is the purpose; tests give one that does not wait.
    package init(
        attempts: Int = 3, pause: Duration = .milliseconds(100), random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        (self.attempts, self.pause, self.random, self.sleep) = (attempts, pause, random, sleep)
    }

    /// Waits before the attempt after `attempt`, which counts from 1.
    /// - Throws: where the caller is cancelled meanwhile.
    func wait(after attempt: Int) async throws { try await sleep(pause * Double(1 << (attempt - 1)) * random()) }
}
