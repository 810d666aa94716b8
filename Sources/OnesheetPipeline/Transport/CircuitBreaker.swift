import FoundationEssentials
import OnesheetCore
import Synchronization

/// Stops requests to a host that cannot be reached or asks for a pause, and to a URL for which its host asks for one. After the pause, a
/// few trial requests find out whether it works again.
///
/// While the cache is warm, only bad URLs reach an origin, so a single URL says little about its host: any status counts as an answer, and
/// a truncated body counts against its URL only. Failed connections for several URLs within a short time open the circuit of the host.
final class CircuitBreaker: Sendable {
    /// How a request failed without a head of an answer.
    enum Failure {
        /// No connection, or one that broke.
        case unreachable
        /// A connection that brought nothing in time.
        case silent
    }

    private struct Circuit {
        /// When its window began.
        let start: Date
        var attempts = 0
        var unreachable = 0
        var silent = 0
        /// Different URLs that failed; a few are enough to know.
        var urls: Set<Int> = []
        /// Different URLs for which it asked for a pause, and the shortest.
        var asking: Set<Int> = []
        var asked = CircuitBreaker.longest
        /// While nothing is sent. Outside of it are also moments before it began: the clock was set back then.
        var rest: Range<Date>?
        /// Requests that find out.
        var trials = 0

        /// Whether the host itself is to blame: half of what was sent could not be delivered, or nothing was answered at all.
        var isBad: Bool {
            let failures = unreachable + silent
            guard failures >= CircuitBreaker.failures, urls.count >= CircuitBreaker.different else { return false }
            return unreachable * 2 >= attempts || failures == attempts
        }

        var isAsking: Bool { asking.count >= CircuitBreaker.different && asking.count * 2 >= attempts }
    }

    private struct State {
        var circuits: [OriginHost: Circuit] = [:]
        /// URLs that are left alone, by what is left of them.
        var urls: [Int: Range<Date>] = [:]
    }

    /// So many failures open a circuit.
    static let failures = 5
    /// The number of different URLs that have to fail.
    static let different = 3
    /// Seconds within which they count.
    static let window = 10.0
    /// Seconds that it stays open.
    static let pause = 10.0
    /// So many requests find out after a pause: if it were one, the one who sends most would always be it.
    static let trials = 4
    /// The longest that a host's own word is taken for.
    private static let longest = 600.0
    private static let capacity = 4096

    private let state = Mutex(State())
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// Seconds for which `url` is to be left alone; `nil` where it may be asked for.
    func wait(for url: WebURL) -> Int? {
        let (now, host, mark) = (clock.now, OriginHost(url), Self.mark(url))
        return state.withLock { state in
            if let rest = state.urls[mark] {
                if rest.contains(now) { return Self.seconds(until: rest.upperBound, now) }
                state.urls[mark] = nil
            }
            guard var circuit = state.circuits[host] else { return nil }
            defer { state.circuits[host] = circuit }
            guard let rest = circuit.rest else { return nil }
            let isOver = !rest.contains(now)
            guard isOver || (1..<Self.trials).contains(circuit.trials) else { return Self.seconds(until: rest.upperBound, now) }
            // This caller tries; most others wait for what it learns.
            circuit.trials = isOver ? 1 : circuit.trials + 1
            if isOver { circuit.rest = now..<now.addingTimeInterval(Self.pause) }
            return nil
        }
    }

    /// The host of `url` has answered, whatever it was.
    func answered(_ url: WebURL) {
        let (now, host) = (clock.now, OriginHost(url))
        state.withLock { state in
            guard var circuit = state.circuits[host] else { return }
            circuit.attempts += 1
            // One that rests because it asked for it did answer.
            let isOver = circuit.trials > 0 || (circuit.rest == nil && !Self.isCurrent(circuit, now))
            state.circuits[host] = isOver ? nil : circuit
        }
    }

    /// No answer came for `url`.
    func failed(_ url: WebURL, _ failure: Failure) {
        change(url) { circuit, mark, now in
            circuit.attempts += 1
            switch failure {
            case .unreachable: circuit.unreachable += 1
            case .silent: circuit.silent += 1
            }
            if circuit.urls.count < Self.different { circuit.urls.insert(mark) }
            guard circuit.rest == nil, circuit.isBad else { return }
            circuit.rest = now..<now.addingTimeInterval(Self.pause)
        }
    }

    /// The host of `url` has asked to be left alone for `seconds`. One URL is left alone by itself; if several ask in a short time, and
    /// little else is answered, it is their host.
    func leave(_ url: WebURL, for seconds: Double) {
        let seconds = min(max(seconds, 1), Self.longest)
        change(url) { circuit, mark, now in
            if circuit.asking.count < Self.different { circuit.asking.insert(mark) }
            circuit.asked = min(circuit.asked, seconds)
            if circuit.isAsking { circuit.rest = now..<now.addingTimeInterval(circuit.asked) }
        }
        let now = clock.now
        state.withLock { state in
            if state.urls.count >= Self.capacity { state.urls = state.urls.filter { $0.value.contains(now) } }
            guard state.urls.count < Self.capacity else { return }
            state.urls[Self.mark(url)] = now..<now.addingTimeInterval(seconds)
        }
    }

    private func change(_ url: WebURL, _ body: (inout Circuit, _ mark: Int, _ now: Date) -> Void) {
        let (now, host) = (clock.now, OriginHost(url))
        state.withLock { state in
            if state.circuits.count >= Self.capacity {
                state.circuits = state.circuits.filter { Self.isCurrent($0.value, now) || $0.value.rest?.contains(now) ?? false }
            }
            guard state.circuits.count < Self.capacity || state.circuits[host] != nil else { return }
            var circuit = state.circuits[host] ?? Circuit(start: now)
            if circuit.rest == nil, !Self.isCurrent(circuit, now) { circuit = Circuit(start: now) }
            body(&circuit, Self.mark(url), now)
            state.circuits[host] = circuit
        }
    }

    private static func isCurrent(_ circuit: Circuit, _ now: Date) -> Bool {
        (0..<window).contains(now.timeIntervalSince(circuit.start))
    }

    private static func seconds(until end: Date, _ now: Date) -> Int { max(1, Int(end.timeIntervalSince(now).rounded(.up))) }

    /// A URL by its bytes, in the size of a number.
    private static func mark(_ url: WebURL) -> Int {
        var hasher = Hasher()
        for byte in url.description.utf8 { hasher.combine(byte) }
        return hasher.finalize()
    }
}
