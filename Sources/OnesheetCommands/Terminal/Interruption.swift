import ArgumentParser
import Dispatch
import UnixSignals

/// Handles Ctrl-C as cancellation, so that work in progress ends properly.
enum Interruption {
    /// Runs `work`, which SIGINT and SIGTERM cancel.
    /// - Returns: the result of `work`, and the first signal, if one came.
    /// - Throws: the error of `work`; if a signal came, the exit code for it.
    static func cancelling<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> (Value, UnixSignal?) {
        // Trapped before the work begins, because a signal that comes earlier ends the process at once.
        let signals = await UnixSignalsSequence(trapping: [.sigint, .sigterm])
        let task = Task { try await work() }
        let watch = Task {
            var first: UnixSignal?
            for await signal in signals {
                first = first ?? signal
                task.cancel()
            }
            return first
        }
        let result = await task.result
        watch.cancel()
        let signal = await watch.value
        if case .failure = result, let signal { throw ExitCode(signal) }
        return (try result.get(), signal)
    }

    /// Runs `work`, which notices no cancellation, on a thread of its own. If the task is cancelled, the thread is left to end with the
    /// process.
    /// - Throws: the error of `work`, or `CancellationError`.
    static func abandoning<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let (results, result) = AsyncThrowingStream<Value, any Error>.makeStream()
        DispatchQueue.global().async {
            do {
                result.yield(try work())
                result.finish()
            } catch {
                result.finish(throwing: error)
            }
        }
        for try await value in results { return value }
        throw CancellationError()
    }
}

extension ExitCode {
    /// The exit status that a shell uses for a program that a signal ended.
    init(_ signal: UnixSignal) { self.init(128 + (signal == .sigint ? 2 : 15)) }
}
