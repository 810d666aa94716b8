/// Sleeps between two polls. Real time separates them, because other processes and files do not follow an injected clock.
/// - Returns: `false` if the task was cancelled.
package func sleepUnlessCancelled(for duration: Duration) async -> Bool {
    do {
        try await ContinuousClock().sleep(for: duration)
        return true
    } catch {
        return false
    }
}
