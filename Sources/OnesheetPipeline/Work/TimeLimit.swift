/// Runs `work`, for `limit` at the most: then it is cancelled and `nil` is the outcome.
func within<Value: Sendable>(
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

/// What `work` gives, or `nil` once `limit` is over or the caller was cancelled. Unlike `within` it waits for nothing that does not end
/// when it is cancelled: that is left behind.
func inTime<Value: Sendable>(_ limit: Duration, _ work: @escaping @Sendable () async -> Value) async -> Value? {
    let (values, signal) = AsyncStream<Value>.makeStream()
    let job = Task { signal.yield(await work()) }
    let timer = Task {
        // The clock runs here against a plugin; tests use plugins that never end and a short limit.
        try await Task.sleep(for: limit)
        signal.finish()
    }
    defer {
        timer.cancel()
        job.cancel()
    }
    return await values.first { _ in true }
}
