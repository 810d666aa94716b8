/// Returns the result of `work`, or `nil` after `limit` or when the caller is cancelled. Does not wait for work that
/// ignores cancellation, but abandons it.
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
