package import OnesheetCore
package import OnesheetImaging
import Synchronization

/// Owns background work, and work that continues after its caller has left. Runs at most one task for each purpose and a bounded
/// number in total, and cancels all of them at shutdown.
package final class BackgroundTasks: Sendable {
    /// The purpose of a piece of work.
    package enum Purpose: Hashable, Sendable {
        /// Refreshing a stale image that is served meanwhile.
        case refresh(CacheKey)
        /// Searching the cache for a picture that an administrator has blocked.
        case block(PerceptualHash)
    }

    private struct State {
        var tasks: [Purpose: Task<Void, any Error>] = [:]
        var skipped = 0
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: concurrent tasks.
    package init(limit: Int = 64) { self.limit = limit }

    package var underWay: Int { state.withLock { $0.tasks.count } }

    /// The number of tasks that were not started because too many were running.
    package var skipped: Int { state.withLock { $0.skipped } }

    /// Starts `work`.
    /// - Returns: the task; `nil` if one is running for `purpose`, if too many are running, or during shutdown.
    @discardableResult
    package func start(_ purpose: Purpose, _ work: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error>? {
        state.withLock { state in
            guard !state.hasEnded, state.tasks[purpose] == nil else { return nil }
            guard state.tasks.count < limit else {
                state.skipped += 1
                return nil
            }
            let task = Task { [self] in
                // Even the shortest task gets here only after `start` has released the lock.
                defer { end(purpose) }
                try await work()
            }
            state.tasks[purpose] = task
            return task
        }
    }

    private func end(_ purpose: Purpose) { state.withLock { $0.tasks[purpose] = nil } }

    /// Cancels all tasks, waits until they have ended, and starts no more.
    package func shutdown() async {
        let tasks = state.withLock { state in
            state.hasEnded = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }
}
