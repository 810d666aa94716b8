import ServiceLifecycle
import UnixSignals

/// Ctrl-C as a wish to stop: what is under way ends properly.
enum Interruption {
    /// The outcome of `work`, which SIGINT and SIGTERM cancel.
    static func cancelling<Value: Sendable>(_ work: Task<Value, Never>) async -> Value {
        let watch = Task {
            for await _ in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) { work.cancel() }
        }
        defer { watch.cancel() }
        return await work.value
    }
}
