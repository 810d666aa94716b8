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
