import NIOCore
import NIOPosix
import OnesheetCore

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
