import FoundationEssentials
import OnesheetCore
import Synchronization

/// Names that a store did not have a moment ago, so that a burst of requests for one key asks it once.
final class AbsentNames: Sendable {
    /// The most names; beyond it all are forgotten.
    private static let limit = 65_536

    private let names = Mutex<[String: Date]>([:])
    private let seconds: Double
    private let clock: WallClock

    init(seconds: Double, clock: WallClock) {
        self.seconds = seconds
        self.clock = clock
    }

    func contains(_ name: String) -> Bool {
        let now = clock.now
        return names.withLock { names in
            guard let noted = names[name] else { return false }
            // A clock that was set back ends the time too.
            if (0..<seconds).contains(now.timeIntervalSince(noted)) { return true }
            names[name] = nil
            return false
        }
    }

    func note(_ name: String) {
        guard seconds > 0 else { return }
        let now = clock.now
        names.withLock { names in
            if names.count >= Self.limit { names = [:] }
            names[name] = now
        }
    }

    func forget(_ name: String) { names.withLock { $0[name] = nil } }
}
