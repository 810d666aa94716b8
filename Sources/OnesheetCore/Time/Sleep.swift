/// Sleeps between two looks at something that does not report its own changes.
/// - Returns: `false` if the task was cancelled, which ends such a loop.
package func sleepUnlessCancelled(for duration: Duration) async -> Bool {
    do {
        try await ContinuousClock().sleep(for: duration)
        return true
    } catch {
        return false
    }
}
