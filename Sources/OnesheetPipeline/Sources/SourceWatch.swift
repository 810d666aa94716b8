package import FoundationEssentials
package import Logging
package import OnesheetCore
import Synchronization

/// The health of one source, and the outcomes of its calls since the start.
package final class SourceWatch: Sendable {
    /// The kinds of calls.
    package enum Call: Sendable, CaseIterable {
        case titles, title, candidates, question
    }

    private struct State {
        var metrics = SourceCallMetrics()
        /// By kind of call: a list that fails is not healthy again because a title is found.
        var health: [Call: SourceHealth] = [:]
        /// The times in which the service wants no calls. Kinds of calls may ask different services.
        var pauses: [Call: Range<Date>] = [:]
        /// Whether the hosts of the images answer.
        var healthOfHosts: @Sendable () -> SourceHealth = { .well }
    }

    /// The seconds of a pause from which it shows in the health. Shorter ones are usual.
    private static let noticedPause = 60

    private let state = Mutex(State())
    private let clock: WallClock
    private let logger: Logger

    /// - Parameter source: the source's name, for the log.
    package init(of source: String, clock: WallClock = .system, logger: Logger) {
        self.clock = clock
        var logger = logger
        logger[metadataKey: "source"] = "\(source)"
        self.logger = logger
    }

    package var metrics: SourceCallMetrics { state.withLock { $0.metrics } }

    /// The worst known state of all kinds of calls, and of the hosts of the images.
    package var health: SourceHealth { .worst([healthOfCalls, state.withLock(\.healthOfHosts)()]) }

    private var healthOfCalls: SourceHealth {
        let now = clock.now
        return .worst(state.withLock { state in state.health.values.map { $0.current(at: now) } })
    }

    /// Asks `health` from now on whether the hosts answer from which images are fetched. No call of the source says that.
    package func ask(hosts health: @escaping @Sendable () -> SourceHealth) { state.withLock { $0.healthOfHosts = health } }

    /// Records the start of a call.
    func begin() { state.withLock { $0.metrics.underWay += 1 } }

    /// Records a call that was not made.
    func refuse() { state.withLock { $0.metrics.calls[.refused, default: 0] += 1 } }

    /// Logs that elements of an answer are missing.
    func warn(ofMissing damage: [String], in list: String) { logger.warn(ofMissing: damage, in: list) }

    /// - Throws: `.rateLimited` in a time in which the service wants no calls.
    func checkPause(of call: Call) throws(SourceError) {
        let now = clock.now
        guard let pause = state.withLock({ $0.pauses[call] }), pause.contains(now) else { return }
        refuse()
        throw .rateLimited(retryAfter: Int(pause.upperBound.timeIntervalSince(now).rounded(.up)))
    }

    /// Records the end of a call.
    func end() { state.withLock { $0.metrics.underWay -= 1 } }

    /// - Parameter result: the answer; `nil` after a timeout.
    func note<Value>(_ result: Result<Value, SourceError>?, of call: Call, seconds: Double) {
        let (now, before) = (clock.now, healthOfCalls)
        let outcome = SourceOutcome(result)
        state.withLock { state in
            state.metrics.calls[outcome, default: 0] += 1
            if outcome != .refused {
                state.metrics.timed += 1
                state.metrics.seconds += seconds
            }
            let known = state.health[call] ?? .well
            switch result {
            case nil: state.health[call] = known.failing("it does not answer in time", at: now)
            // The rest of the quota is reserved for interactive requests or known titles, so it is not exhausted for them.
            case .failure(.quotaExhausted) where Urgency.current == .prefetch || Familiarity.current == .unknown: break
            case .failure(.quotaExhausted(let until)):
                state.health[call] = .exhausted(until: until.map(Date.init(timeIntervalSince1970:)))
            case .success, .failure(.notFound), .failure(.unsupported): state.health[call] = .well
            case .failure(.rateLimited(let seconds)):
                let end = now.addingTimeInterval(Double(max(seconds, 0)))
                state.pauses[call] = now..<end
                if seconds >= Self.noticedPause { state.health[call] = .limited(until: end) }
            // The service was not asked, or its answer not read.
            case .failure(.overloaded): break
            case .failure(let error):
                state.health[call] = known.failing(error.message, details: error.details, at: now)
            }
        }
        let after = healthOfCalls
        if before == .well, after != .well, case .failure(let error)? = result {
            logger.warning("a source fails", metadata: ["reason": "\(error)"])
        } else if before == .well, after != .well {
            logger.warning("a source does not answer in time")
        }
        if before != .well, after == .well { logger.notice("a source has recovered") }
    }
}

/// Whether a source answers.
package enum SourceHealth: Sendable, Equatable {
    case well
    /// The service limits the rate of calls, and wants none for a minute or more; or a host of its images asked for a pause.
    case limited(until: Date)
    /// The quota is exhausted.
    case exhausted(until: Date?)
    /// - Parameter details: what only the administrator may read.
    case failing(since: Date, reason: String, details: String? = nil)

    /// The worst of several states.
    static func worst(_ states: [SourceHealth]) -> SourceHealth { states.max { $0.weight < $1.weight } ?? .well }

    private var weight: Int {
        switch self {
        case .well: 0
        case .limited: 1
        case .exhausted: 2
        case .failing: 3
        }
    }

    /// An exhausted quota resets by itself, and a pause ends.
    fileprivate func current(at now: Date) -> SourceHealth {
        switch self {
        case .exhausted(let until?), .limited(let until): until <= now ? .well : self
        case .well, .exhausted(nil), .failing: self
        }
    }

    fileprivate func failing(_ reason: String, details: String? = nil, at now: Date) -> SourceHealth {
        if case .failing(let since, _, _) = self { return .failing(since: since, reason: reason, details: details) }
        return .failing(since: now, reason: reason, details: details)
    }
}

/// The outcomes of a source's calls since the start.
package struct SourceCallMetrics: Sendable, Equatable {
    package var calls: [SourceOutcome: Int] = [:]
    /// Calls that were not refused, and their total duration in seconds.
    package var timed = 0
    package var seconds = 0.0
    package var underWay = 0
}

/// The outcome of a call.
package enum SourceOutcome: String, Sendable, CaseIterable {
    case answered, unauthorized, unavailable, unsupported, refused
    case notFound = "not_found"
    case quotaExhausted = "quota_exhausted"
    case rateLimited = "rate_limited"
    case malformedAnswer = "malformed_answer"
    case timedOut = "timed_out"

    init<Value>(_ result: Result<Value, SourceError>?) {
        self =
            switch result {
            case nil: .timedOut
            case .success: .answered
            case .failure(.notFound): .notFound
            case .failure(.unauthorized): .unauthorized
            case .failure(.quotaExhausted): .quotaExhausted
            case .failure(.rateLimited): .rateLimited
            case .failure(.unavailable), .failure(.failed): .unavailable
            case .failure(.overloaded): .refused
            case .failure(.malformedAnswer): .malformedAnswer
            case .failure(.unsupported): .unsupported
            }
    }
}
