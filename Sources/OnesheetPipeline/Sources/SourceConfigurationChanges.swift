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
    func hasChanged(_ source: String, since moment: Date) -> Bool { times.withLock { $0[source].map { moment < $0 } ?? false } }
}
