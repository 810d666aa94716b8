package import FoundationEssentials
import Synchronization

/// When the configuration of each source last changed. The origin of an original that was stored before may be another one now.
package final class SourceConfigurationChanges: Sendable {
    private let times = Mutex<[String: Date]>([:])

    package init() {}

    package func note(_ source: String, at moment: Date) {
        times.withLock { $0[source] = max($0[source] ?? .distantPast, moment) }
    }

    /// Whether the configuration of `source` has changed since `moment`.
    func hasChanged(_ source: String, since moment: Date, at now: Date) -> Bool {
        times.withLock { times in
            guard let change = times[source] else { return false }
            // A change in the future was recorded when the clock was ahead. Otherwise all that is stored until then would count as older.
            if change > now { times[source] = now }
            return moment < min(change, now)
        }
    }
}
