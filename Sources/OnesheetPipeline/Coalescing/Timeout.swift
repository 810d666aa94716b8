import NIOCore
import NIOPosix

/// Runs `work` for at most `limit`, then cancels it and returns `nil`.
func withTimeout<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            // Real time limits an outside party. Tests use origins that never end and a short limit.
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}

/// Returns the result of `work`, or `nil` after `limit` or when the caller is cancelled. Unlike `withTimeout`, it does not wait for
/// work that ignores cancellation, but abandons it.
/// - Parameters:
///   - limit: `nil` is no limit; then only cancellation ends the wait.
///   - executor: runs `work`; `nil` is the cooperative pool.
package func withTimeoutAbandoning<Value: Sendable>(
    _ limit: Duration?, on executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    let (values, signal) = AsyncStream<Value>.makeStream()
    let job = Task(executorPreference: executor) { signal.yield(await work()) }
    let timer = limit.map { limit in
        Task {
            // Real time limits a plugin. Tests use plugins that never end and a short limit.
            try await Task.sleep(for: limit)
            signal.finish()
        }
    }
    defer {
        timer?.cancel()
        job.cancel()
    }
    return await values.first { _ in true }
}

/// Returns the result of `work`, or `nil` after `limit`. Waits even if the caller is cancelled, for work during shutdown.
package func withTimeoutIgnoringCancellation<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    let outcome = FirstOutcome<Value?>()
    let job = Task { outcome.give(await work()) }
    let timer = NIOSingletons.posixEventLoopGroup.any().scheduleTask(in: TimeAmount(limit)) { outcome.give(nil) }
    defer {
        timer.cancel()
        job.cancel()
    }
    return await outcome.value()
}
