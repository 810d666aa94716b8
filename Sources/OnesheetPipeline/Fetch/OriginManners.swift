import FoundationEssentials
import OnesheetCache
import OnesheetCore

/// How we treat the hosts of others: so many requests at a time, failures tried again with care, and rest where they need it.
struct OriginManners: Sendable {
    let slots: HostSlots
    let breaker: CircuitBreaker
    let retry: Retry
    let clock: WallClock

    /// What `send` gets from the host of `url`.
    func ask(
        _ url: WebURL, _ send: @Sendable () async throws(HTTPTransportError) -> HTTPAnswer
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        let host = OriginHost(url)
        for attempt in 1... {
            if let seconds = breaker.wait(for: host) { throw .unavailable(url: url.description, retryAfter: seconds) }
            let isLast = attempt == retry.attempts
            do {
                let answer = try await slots.with(host, send)
                guard answer.isOverload else {
                    breaker.close(host)
                    return answer
                }
                let rest = answer.retryAfter(at: clock.now)
                // Who names a time is not asked before.
                if isLast || rest != nil || answer.status == 429 {
                    breaker.fail(host, restingFor: rest)
                    return answer
                }
            } catch let error as HTTPTransportError {
                // Whoever left does not make a host bad.
                if Task.isCancelled { throw error }
                switch error {
                case .failed where !isLast: break
                case .failed, .timedOut:
                    breaker.fail(host)
                    throw error
                case .forbidden, .invalidURL, .tooLarge, .tooManyRedirects, .unavailable, .crowded, .overloaded: throw error
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

extension HTTPAnswer {
    /// Whether the host, or what stands before it, cannot keep up (RFC 6585 §4, RFC 9110 §15.6.3).
    fileprivate var isOverload: Bool { status == 429 || (502...504).contains(status) }

    /// Seconds after which to come back, where the host says so (RFC 9110 §10.2.3).
    fileprivate func retryAfter(at now: Date) -> Double? {
        guard let text = headers["retry-after"] else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil } ?? HTTPDate.parse(text, now: now)?.timeIntervalSince(now)
    }
}
