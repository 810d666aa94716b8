import FoundationEssentials
import OnesheetCore
import OnesheetTransport
import Synchronization

/// Stops requests to a host that cannot be reached or asks for a pause, and to a URL for which its host asks for a pause. After the
/// pause, a few trial requests test whether it works again.
///
/// While the cache is warm, only bad URLs reach an origin, so a single URL says little about its host. Any status counts as an
/// answer, and a truncated body or a malformed head counts against its URL only. Failed connections for several URLs within a short
/// time open the circuit of the host. A host that answered anybody since the silent tries began is not silent.
final class CircuitBreaker: Sendable {
    /// How a request failed before any byte of a response.
    enum Failure {
        /// The connection could not be made, or it broke.
        case unreachable
        /// The connection delivered nothing in time.
        case silent
    }

    private struct State {
        var circuits: [OriginHost: OriginCircuit] = [:]
        /// Paused URLs, by their hash.
        var urls: [Int: Range<Date>] = [:]

        /// Whether there is room for the circuit of `host`. Forgets those that say nothing any longer.
        mutating func hasRoom(for host: OriginHost, at now: Date) -> Bool {
            guard circuits[host] == nil, circuits.count >= CircuitBreaker.capacity else { return true }
            circuits = circuits.filter { CircuitBreaker.isCurrent($0.value, now) || $0.value.rest?.contains(now) ?? false }
            return circuits.count < CircuitBreaker.capacity
        }
    }

    /// The number of failures that opens a circuit.
    static let failures = 5
    /// The number of different URLs that must fail.
    static let different = 3
    /// The window for failures, in seconds.
    static let window = 10.0
    /// The time for which the circuit is open, in seconds.
    static let pause = 10.0
    /// The number of trial requests after a pause. With a single one, the busiest client would always be chosen. As many again are for
    /// clients that have sent none since the last answer.
    static let trials = 4
    /// The clients whose trials a host remembers.
    static let remembered = 256
    /// The longest pause that a host may ask for.
    static let longest = 600.0
    private static let capacity = 4096

    private let state = Mutex(State())
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// Whether a URL may be requested.
    enum Admission: Equatable {
        case now
        /// Now, to find out whether its host works again.
        case trial
        /// After seconds.
        case later(Int)
    }

    func admission(of url: WebURL) -> Admission {
        let (now, host, hash, client) = (clock.now, OriginHost(url), Self.hash(of: url), ClientKey.current)
        return state.withLock { state in
            if let rest = state.urls[hash] {
                if rest.contains(now) { return .later(Self.seconds(until: rest.upperBound, now)) }
                state.urls[hash] = nil
            }
            guard var circuit = state.circuits[host] else { return .now }
            defer { state.circuits[host] = circuit }
            guard let rest = circuit.rest else { return .now }
            let isOver = !rest.contains(now)
            guard isOver || circuit.hasTrial(for: client) else {
                return .later(Self.seconds(until: rest.upperBound, now))
            }
            // This caller tries; most others wait for the result.
            if isOver {
                circuit.rest = now..<now.addingTimeInterval(Self.pause)
                circuit.trials = 0
            }
            circuit.addTrial(of: client)
            return .trial
        }
    }

    /// Seconds for which the host of `url` is paused, for a request that waited when the pause began; `nil` if it is not.
    func pause(of url: WebURL) -> Int? {
        let (now, host) = (clock.now, OriginHost(url))
        return state.withLock { state in
            guard let rest = state.circuits[host]?.rest, rest.contains(now) else { return nil }
            return Self.seconds(until: rest.upperBound, now)
        }
    }

    /// Whether `host` answers.
    func health(of host: OriginHost) -> SourceHealth {
        let now = clock.now
        return state.withLock { $0.circuits[host]?.health(of: host, at: now) ?? .well }
    }

    /// The number of hosts that are not well.
    var troubledHosts: Int {
        let now = clock.now
        return state.withLock { $0.circuits.count { $1.health(of: $0, at: now) != .well } }
    }

    /// Records an answer of the host of `url`, whatever its status and form, that asks for no pause.
    /// - Parameter isTrial: whether the request was a trial. Its answer ends the pause, also if another trial was asked to pause.
    func answered(_ url: WebURL, isTrial: Bool = false) {
        let (now, host) = (clock.now, OriginHost(url))
        state.withLock { state in
            guard state.hasRoom(for: host, at: now) else { return }
            var circuit = state.circuits[host] ?? OriginCircuit(start: now)
            circuit.attempts += 1
            // A host that asked for its pause did answer.
            let isOver = isTrial || circuit.trials > 0 || (circuit.rest == nil && !Self.isCurrent(circuit, now))
            if isOver { circuit = OriginCircuit(start: now) }
            circuit.answered = now
            circuit.drought = OriginCircuit.Drought()
            state.circuits[host] = circuit
        }
    }

    /// Takes back a trial that was not sent, or whose caller is gone.
    func giveBack(_ url: WebURL) {
        let (now, host) = (clock.now, OriginHost(url))
        state.withLock { state in
            guard var circuit = state.circuits[host], circuit.rest != nil, circuit.trials > 0 else { return }
            circuit.removeTrial(of: .current)
            // The next caller tries at once.
            if circuit.trials == 0 { circuit.rest = now..<now }
            state.circuits[host] = circuit
        }
    }

    /// Records that no answer came for `url`.
    /// - Parameter began: when the request was sent.
    func failed(_ url: WebURL, _ failure: Failure, since began: Date) {
        let hash = Self.hash(of: url)
        change(url) { circuit, now in
            circuit.attempts += 1
            switch failure {
            case .unreachable: circuit.unreachable += 1
            case .silent: circuit.silent += 1
            }
            circuit.drought.note(failure, of: hash, at: now)
            if circuit.urls.count < Self.different { circuit.urls.insert(hash) }
            guard circuit.rest == nil, circuit.isBad(at: now, since: began) else { return }
            circuit.rest = now..<now.addingTimeInterval(Self.pause)
            circuit.isAsked = false
        }
    }

    /// Records that the host of `url` answered and asked for a pause of `seconds`. A pause for one URL applies to that URL. If several URLs
    /// get one in a short time and little else is answered, it applies to the host.
    /// - Parameters:
    ///   - isChosen: whether a visitor chose the URL. Then the host is paused as if it had failed: a stranger who knows such URLs would
    ///     otherwise take the host away from everybody for as long as they ask for.
    ///   - isTrial: whether the request was a trial.
    func leave(_ url: WebURL, for seconds: Double, isChosen: Bool = false, isTrial: Bool = false) {
        let (seconds, hash) = (min(max(seconds, 1), Self.longest), Self.hash(of: url))
        change(url) { circuit, now in
            circuit.attempts += 1
            circuit.drought = OriginCircuit.Drought()
            if circuit.asking.count < Self.different { circuit.asking.insert(hash) }
            circuit.asked = min(circuit.asked, seconds, isChosen ? Self.pause : Self.longest)
            if circuit.rest == nil {
                guard circuit.isAsking else { return }
            } else {
                // The other trials may show that a visitor has chosen a bad URL. A request from before the pause says nothing new.
                guard isTrial, !isChosen else { return }
            }
            circuit.rest = now..<now.addingTimeInterval(circuit.asked)
            circuit.isAsked = true
            circuit.trials = 0
        }
        let now = clock.now
        state.withLock { state in
            if state.urls.count >= Self.capacity { state.urls = state.urls.filter { $0.value.contains(now) } }
            guard state.urls.count < Self.capacity else { return }
            state.urls[hash] = now..<now.addingTimeInterval(seconds)
        }
    }

    private func change(_ url: WebURL, _ body: (inout OriginCircuit, _ now: Date) -> Void) {
        let (now, host) = (clock.now, OriginHost(url))
        state.withLock { state in
            guard state.hasRoom(for: host, at: now) else { return }
            var circuit = state.circuits[host] ?? OriginCircuit(start: now)
            if circuit.rest == nil, !Self.isCurrent(circuit, now) { circuit = circuit.renewed(at: now) }
            body(&circuit, now)
            state.circuits[host] = circuit
        }
    }

    private static func isCurrent(_ circuit: OriginCircuit, _ now: Date) -> Bool {
        (0..<window).contains(now.timeIntervalSince(circuit.start))
    }

    private static func seconds(until end: Date, _ now: Date) -> Int { max(1, Int(end.timeIntervalSince(now).rounded(.up))) }

    /// A URL as a hash of its bytes.
    private static func hash(of url: WebURL) -> Int {
        var hasher = Hasher()
        for byte in url.description.utf8 { hasher.combine(byte) }
        return hasher.finalize()
    }
}
