import FoundationEssentials
import OnesheetCore
import Synchronization

/// Leaves a host alone that fails again and again, or that asks for it; after a pause one request finds out whether it is well again.
final class CircuitBreaker: Sendable {
    private struct Circuit {
        var failures = 0
        /// While nothing is sent. Outside of it are also moments before it began: the clock was set back then.
        var rest: Range<Date>?
    }

    /// So many failures in a row open a circuit.
    static let failures = 5
    /// Seconds that it stays open.
    static let pause = 10.0
    /// The longest that a host's own word is taken for.
    private static let longest = 600.0
    private static let capacity = 10_000

    private let circuits = Mutex<[OriginHost: Circuit]>([:])
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// Seconds for which `host` is to be left alone; `nil` where it may be asked.
    func wait(for host: OriginHost) -> Int? {
        let now = clock.now
        return circuits.withLock { circuits in
            guard let rest = circuits[host]?.rest else { return nil }
            if rest.contains(now) { return max(1, Int(rest.upperBound.timeIntervalSince(now).rounded(.up))) }
            // This caller tries; the others wait for what it learns.
            circuits[host]?.rest = now..<now.addingTimeInterval(Self.pause)
            return nil
        }
    }

    /// `host` has answered.
    func close(_ host: OriginHost) { circuits.withLock { $0[host] = nil } }

    /// `host` has failed, or has asked to be left alone for `seconds`.
    func fail(_ host: OriginHost, restingFor seconds: Double? = nil) {
        let now = clock.now
        circuits.withLock { circuits in
            if circuits.count >= Self.capacity { circuits = circuits.filter { $0.value.rest?.contains(now) ?? false } }
            guard circuits.count < Self.capacity || circuits[host] != nil else { return }
            var circuit = circuits[host] ?? Circuit()
            circuit.failures += 1
            if let seconds {
                circuit.rest = now..<now.addingTimeInterval(min(max(seconds, 1), Self.longest))
            } else if circuit.failures >= Self.failures {
                circuit.rest = now..<now.addingTimeInterval(Self.pause)
            }
            circuits[host] = circuit
        }
    }
}
