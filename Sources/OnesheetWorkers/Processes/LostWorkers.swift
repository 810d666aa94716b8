package import OnesheetImaging
import Synchronization

/// The number of lost render processes, by reason.
package final class LostWorkers: Sendable {
    private let counts = Mutex<[WorkerLoss: Int]>([:])

    package init() {}

    /// The number of processes lost for this reason.
    package subscript(loss: WorkerLoss) -> Int { counts.withLock { $0[loss] ?? 0 } }

    func add(_ loss: WorkerLoss) { counts.withLock { $0[loss, default: 0] += 1 } }
}
