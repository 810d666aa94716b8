/// Sleeps between two polls.
/// - Returns: `false` if the task was cancelled.
package func sleepUnlessCancelled(for duration: Duration) async -> Bool {
    do {
        try await ContinuousClock().sleep(for: duration)
        return true
    } catch {
        return false
    }
}
