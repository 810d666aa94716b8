import NIOPosix
import Synchronization

/// The worker threads on which pixels are made: so many at work, so many waiting, one more is refused at once.
///
/// Rendering keeps a processor busy for tens of milliseconds; on the cooperative pool it would stop everything else.
package final class RenderPool: Sendable {
    private let threads: NIOThreadPool
    private let capacity: Int
    private let admitted = Mutex(0)

    /// - Parameters:
    ///   - workers: threads.
    ///   - queue: jobs that may wait for one.
    package init(workers: Int, queue: Int) {
        threads = NIOThreadPool(numberOfThreads: max(1, workers))
        capacity = max(1, workers) + max(0, queue)
        threads.start()
    }

    /// Jobs at work and waiting.
    package var load: Int { admitted.withLock { $0 } }

    /// Runs `job` on a worker.
    /// - Throws: `.overloaded` where workers and queue are full, `.cancelled` where the caller was cancelled before a worker was
    ///   free, and what `job` throws.
    func run<Value: Sendable>(_ job: @escaping @Sendable () throws(PipelineError) -> Value) async throws(PipelineError) -> Value {
        let isAdmitted = admitted.withLock { admitted in
            guard admitted < capacity else { return false }
            admitted += 1
            return true
        }
        guard isAdmitted else { throw .overloaded }
        defer { admitted.withLock { $0 -= 1 } }
        let result: Result<Value, PipelineError>
        do {
            result = try await threads.runIfActive {
                do throws(PipelineError) { return .success(try job()) } catch { return .failure(error) }
            }
        } catch {
            throw .cancelled
        }
        return try result.get()
    }

    /// Ends the threads once their jobs are done.
    package func shutdown() async {
        await withCheckedContinuation { done in
            threads.shutdownGracefully { _ in done.resume() }
        }
    }
}
