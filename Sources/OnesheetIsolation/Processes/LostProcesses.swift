package import OnesheetImaging
import Synchronization

/// The number of lost render processes, by reason.
package final class LostProcesses: Sendable {
    private let counts = Mutex<[ProcessLoss: Int]>([:])

    package init() {}

    /// The number of processes lost for this reason.
    package subscript(loss: ProcessLoss) -> Int { counts.withLock { $0[loss] ?? 0 } }

    func add(_ loss: ProcessLoss) { counts.withLock { $0[loss, default: 0] += 1 } }
}
