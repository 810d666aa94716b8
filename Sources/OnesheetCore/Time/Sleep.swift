/// Sleeps between two polls. Real time separates them, because other processes and files do not follow an injected clock.
///
/// A cancelled `Task.sleep` leaves its timer behind until it would have ended. An alarm leaves nothing.
/// - Returns: `false` if the task was cancelled.
package func sleepUnlessCancelled(for duration: Duration) async -> Bool {
    let outcome = FirstOutcome<Bool>()
    let alarm = Alarms.shared.set(in: duration) { outcome.give(true) }
    defer { Alarms.shared.cancel(alarm) }
    return await withTaskCancellationHandler {
        await outcome.value()
    } onCancel: {
        outcome.give(false)
    }
}
