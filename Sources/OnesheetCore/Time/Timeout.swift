import Synchronization

/// Returns the result of `work`, or `nil` after `limit` or when the caller is cancelled. Does not wait for work that
/// ignores cancellation, but abandons it.
/// - Parameters:
///   - limit: `nil` is no limit; then only cancellation ends the wait.
///   - besides: the time up to now that does not count, such as waits that are not the work's fault.
///   - executor: runs `work`; `nil` is the cooperative pool.
package func withTimeoutAbandoning<Value: Sendable>(
    _ limit: Duration?, besides: @escaping @Sendable () -> Duration = { .zero }, on executor: (any TaskExecutor)? = nil,
    _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    let outcome = FirstOutcome<Value?>()
    let job = Task(executorPreference: executor) { outcome.give(await work()) }
    // Real time limits a plugin. Tests use plugins that never end and a short limit.
    let alarm = limit.map { LimitAlarm($0, besides: besides) { outcome.give(nil) } }
    defer {
        alarm?.cancel()
        job.cancel()
    }
    return await withTaskCancellationHandler {
        await outcome.value()
    } onCancel: {
        outcome.give(nil)
    }
}

/// An alarm that goes off after a time, and after the time besides that does not count.
private final class LimitAlarm: Sendable {
    private let start = ContinuousClock.now
    private let limit: Duration
    private let besides: @Sendable () -> Duration
    private let action: @Sendable () -> Void
    private let state = Mutex(State(id: nil, isCancelled: false))

    private struct State {
        var id: Alarms.ID?
        var isCancelled: Bool
    }

    init(_ limit: Duration, besides: @escaping @Sendable () -> Duration, _ action: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.besides = besides
        self.action = action
        wait(for: limit)
    }

    func cancel() {
        let id = state.withLock { state in
            state.isCancelled = true
            return state.id
        }
        if let id { Alarms.shared.cancel(id) }
    }

    private func wait(for duration: Duration) {
        // Under the lock, so that it does not go off before its number is known.
        state.withLock { state in
            if !state.isCancelled { state.id = Alarms.shared.set(in: duration) { [self] in goOff() } }
        }
    }

    private func goOff() {
        let left = limit + besides() - (ContinuousClock.now - start)
        if left > .zero { wait(for: left) } else { action() }
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
