import Synchronization

/// Returns the result of `work`, or `nil` after `limit` or when the caller is cancelled. Does not wait for work that
/// ignores cancellation, but abandons it.
/// - Parameters:
///   - limit: `nil` is no limit; then only cancellation ends the wait.
///   - executor: runs `work`; `nil` is the cooperative pool.
package func withTimeoutAbandoning<Value: Sendable>(
    _ limit: Duration?, on executor: (any TaskExecutor)? = nil, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    let outcome = FirstOutcome<Value?>()
    let job = Task(executorPreference: executor) { outcome.give(await work()) }
    // Real time limits a plugin. Tests use plugins that never end and a short limit.
    let alarm = limit.map { Alarms.shared.set(in: $0) { outcome.give(nil) } }
    defer {
        if let alarm { Alarms.shared.cancel(alarm) }
        job.cancel()
    }
    return await withTaskCancellationHandler {
        await outcome.value()
    } onCancel: {
        outcome.give(nil)
    }
}

/// Returns the result of `work`, or `nil` after `limit`. Waits even if the caller is cancelled, for work during shutdown.
package func withTimeoutIgnoringCancellation<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    let outcome = FirstOutcome<Value?>()
    let job = Task { outcome.give(await work()) }
    let alarm = Alarms.shared.set(in: limit) { outcome.give(nil) }
    defer {
        Alarms.shared.cancel(alarm)
        job.cancel()
    }
    return await outcome.value()
}

/// Runs `work` for at most `limit`, then cancels it and returns `nil`. Waits for the end of cancelled work.
package func withTimeout<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try Task.checkCancellation()
    let isOver = Mutex(false)
    // It begins on this thread, and leaves it when it first waits.
    let job = Task.immediate { try await work() }
    // Real time limits an outside party. Tests use origins that never end and a short limit.
    let alarm = Alarms.shared.set(in: limit) {
        isOver.withLock { $0 = true }
        job.cancel()
    }
    defer { Alarms.shared.cancel(alarm) }
    let result = await withTaskCancellationHandler {
        await job.result
    } onCancel: {
        job.cancel()
    }
    if isOver.withLock({ $0 }) { return nil }
    if case .failure = result { try Task.checkCancellation() }
    return try result.get()
}

extension AsyncStream<Void> {
    /// Waits for the end of the stream, which nothing is sent through.
    /// - Returns: `false` if `limit` came first, or if the task was cancelled.
    package func ends(within limit: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await first { _ in true } == nil && !Task.isCancelled }
            group.addTask {
                _ = await sleepUnlessCancelled(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }
}
