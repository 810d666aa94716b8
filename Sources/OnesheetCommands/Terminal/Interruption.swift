import ServiceLifecycle
import UnixSignals

/// Handles Ctrl-C as cancellation, so that work in progress ends properly.
enum Interruption {
    /// The result of `work`. SIGINT and SIGTERM cancel it.
    static func cancelling<Value: Sendable>(_ work: Task<Value, Never>) async -> Value {
        let watch = Task {
            for await _ in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) { work.cancel() }
        }
        defer { watch.cancel() }
        return await work.value
    }
}
