package import OnesheetCore
package import OnesheetImaging
import Synchronization

/// Background work, and work that continues when its caller leaves: one piece for each purpose, a bounded number at once, all cancelled
/// when the server ends.
package final class BackgroundTasks: Sendable {
    /// The purpose of a piece of work.
    package enum Purpose: Hashable, Sendable {
        /// An image that is made anew while the stale one serves.
        case refresh(CacheKey)
        /// A picture that is looked for everywhere, because it is not to be shown again.
        case block(PerceptualHash)
    }

    private struct State {
        var tasks: [Purpose: Task<Void, any Error>] = [:]
        var skipped = 0
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: pieces of work at once.
    package init(limit: Int = 64) { self.limit = limit }

    package var underWay: Int { state.withLock { $0.tasks.count } }

    /// The number of tasks that were not begun because too many were under way.
    package var skipped: Int { state.withLock { $0.skipped } }

    /// Begins `work`.
    /// - Returns: the work; `nil` where some is under way for `purpose`, where there is too much already, and when the server ends.
    @discardableResult
    package func start(_ purpose: Purpose, _ work: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error>? {
        state.withLock { state in
            guard !state.hasEnded, state.tasks[purpose] == nil else { return nil }
            guard state.tasks.count < limit else {
                state.skipped += 1
                return nil
            }
            let task = Task { [self] in
                // Comes after `start` has let go of the lock, however short the work is.
                defer { end(purpose) }
                try await work()
            }
            state.tasks[purpose] = task
            return task
        }
    }

    private func end(_ purpose: Purpose) { state.withLock { $0.tasks[purpose] = nil } }

    /// Cancels all of it, waits until it has ended, and begins nothing more.
    package func shutdown() async {
        let tasks = state.withLock { state in
            state.hasEnded = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }
}
