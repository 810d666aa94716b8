import NIOCore
import NIOPosix

/// Runs `work`, for `limit` at the most: then it is cancelled and `nil` is the outcome.
func withTimeout<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            // The clock runs here against an outside party; tests use origins that never end and a short limit.
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}

/// What `work` gives, or `nil` once `limit` is over or the caller was cancelled. Unlike `withTimeout` it waits for nothing that does not end
/// when it is cancelled: that is left behind.
/// - Parameters:
///   - limit: `nil` is none; then only the caller's leaving ends the wait.
///   - executor: where `work` runs; `nil` is the cooperative pool.
package func withTimeoutAbandoning<Value: Sendable>(
    _ limit: Duration?, on executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    let (values, signal) = AsyncStream<Value>.makeStream()
    let job = Task(executorPreference: executor) { signal.yield(await work()) }
    let timer = limit.map { limit in
        Task {
            // The clock runs here against a plugin; tests use plugins that never end and a short limit.
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

/// What `work` gives, or `nil` once `limit` is over; a cancelled caller waits all the same: for what is to be done in the end.
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
