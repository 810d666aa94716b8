import FoundationEssentials
import OnesheetCore
import OnesheetTransport

/// What the breaker knows of one host.
struct OriginCircuit {
    /// The start of its window.
    let start: Date
    /// When the host last answered anything, also before the window.
    var answered: Date?
    var attempts = 0
    var unreachable = 0
    var silent = 0
    /// Different URLs that failed; a few suffice.
    var urls: Set<Int> = []
    /// Different URLs for which the host asked for a pause, and the shortest pause.
    var asking: Set<Int> = []
    var asked = CircuitBreaker.longest
    /// The time of the pause. A time before its start is outside of it: the clock was set back.
    var rest: Range<Date>?
    /// Trial requests.
    var trials = 0
    /// The clients of the trial requests since the last answer, whose trials were in vain.
    private(set) var trying: Set<ClientKey> = []
    /// Whether the host asked for the pause.
    var isAsked = false
    /// The failures since the last answer, also before the window.
    var drought = Drought()

    /// Whether the host itself is to blame: half of the requests could not be delivered, or none was answered, neither in the window
    /// nor since `began`.
    func isBad(at now: Date, since began: Date) -> Bool {
        let failures = unreachable + silent
        guard failures >= CircuitBreaker.failures, urls.count >= CircuitBreaker.different else { return false }
        if unreachable * 2 >= attempts { return true }
        let since = min(began, now.addingTimeInterval(-CircuitBreaker.window))
        return failures == attempts && !(answered.map { $0 > since && $0 <= now } ?? false)
    }

    /// Whether `client` may send one of the trials that are left. The last ones are for clients that have sent none since the last answer, so
    /// that clients whose URLs all hang do not keep a healthy host from the others.
    func hasTrial(for client: ClientKey) -> Bool {
        switch trials {
        case 1..<CircuitBreaker.trials: true
        case CircuitBreaker.trials..<2 * CircuitBreaker.trials: !trying.contains(client)
        default: false
        }
    }

    /// Counts a trial of `client`.
    mutating func addTrial(of client: ClientKey) {
        trials += 1
        if trying.count >= CircuitBreaker.remembered, !trying.contains(client) { trying = [] }
        trying.insert(client)
    }

    /// Takes back a trial of `client`.
    mutating func removeTrial(of client: ClientKey) {
        trials -= 1
        trying.remove(client)
    }

    /// The circuit of a new window.
    func renewed(at now: Date) -> OriginCircuit {
        var new = OriginCircuit(start: now, answered: answered)
        new.drought = drought
        return new
    }

    var isAsking: Bool { asking.count >= CircuitBreaker.different && asking.count * 2 >= attempts }

    /// Whether the host answers: what its pause says, and also without one, whether several URLs could not be reached since its last answer.
    /// A host with few requests is never paused.
    func health(of host: OriginHost, at now: Date) -> SourceHealth {
        if drought.unreachable.count >= CircuitBreaker.different, let since = drought.since {
            return .failing(since: since, reason: "a host of its images cannot be reached", details: "\(host)")
        }
        guard let rest else { return .well }
        if isAsked { return rest.contains(now) ? .limited(until: rest.upperBound) : .well }
        return .failing(
            since: drought.since ?? rest.lowerBound, reason: "a host of its images does not answer", details: "\(host)")
    }

    /// The failures of a host since its last answer.
    struct Drought {
        /// The time of the first one.
        var since: Date?
        /// Different URLs for which no connection was made; a few suffice.
        var unreachable: Set<Int> = []

        mutating func note(_ failure: CircuitBreaker.Failure, of url: Int, at now: Date) {
            since = since ?? now
            if failure == .unreachable, unreachable.count < CircuitBreaker.different { unreachable.insert(url) }
        }
    }
}
