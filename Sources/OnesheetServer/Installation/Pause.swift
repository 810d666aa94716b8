/// Waits between two looks at something that does not tell by itself when it changes, which is what the waiting is for.
/// - Returns: `false` where the task was cancelled, which is how such looking ends.
package func hasPassed(_ pause: Duration) async -> Bool {
    do {
        try await ContinuousClock().sleep(for: pause)
        return true
    } catch {
        return false
    }
}
