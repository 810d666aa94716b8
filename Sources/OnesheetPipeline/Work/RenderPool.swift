import NIOPosix
package import OnesheetCore
import OnesheetImaging
import Synchronization

/// The worker threads on which pixels are made: so many at work, so many waiting, so many bytes; what is more is refused at once.
///
/// Rendering keeps a processor busy for tens of milliseconds; on the cooperative pool it would stop everything else.
package final class RenderPool: Sendable {
    private enum Turn {
        case now, cancelled
        case refused(retryAfter: Int)
    }

    /// What originals and pixels may occupy.
    package let memory: MemoryBudget
    private let threads: NIOThreadPool
    private let line: Mutex<RenderLine<CheckedContinuation<Turn, Never>>>

    /// - Parameters:
    ///   - workers: threads.
    ///   - queue: jobs that may wait for one.
    ///   - longestWait: the longest that one is let wait, as far as can be foreseen.
    ///   - memory: what originals under way and decoded pixels may occupy.
    package init(
        workers: Int, queue: Int, longestWait: Duration = .seconds(10),
        memory: MemoryBudget = MemoryBudget(limit: 512 << 20)
    ) {
        threads = NIOThreadPool(numberOfThreads: max(1, workers))
        line = Mutex(RenderLine(workers: workers, queue: queue, longestWait: longestWait / .milliseconds(1)))
        self.memory = memory
        threads.start()
    }

    /// Jobs at work and waiting.
    package var load: Int { line.withLock { $0.load } }

    /// Jobs of this urgency that wait.
    package func waiting(_ urgency: Urgency) -> Int { line.withLock { $0.waiting(urgency) } }

    /// What a job that comes now is told when it cannot be taken: seconds until it probably can.
    package var retryAfter: Int { line.withLock { $0.retryAfter(.interactive) } }

    /// Refuses what would have to be rendered, before anything is done for it.
    /// - Throws: `.overloaded` where a job that comes now would not be taken.
    func checkRoom() throws(PipelineError) {
        if let seconds = line.withLock({ $0.refusal(.current) }) { throw .overloaded(retryAfter: seconds) }
    }

    /// Runs `job` on a worker, with the urgency of the task that asks.
    /// - Parameter cost: what it is predicted to take.
    /// - Throws: `.overloaded` where it would not begin in time or has no room, `.cancelled` where the caller was cancelled before a
    ///   worker was free, and what `job` throws.
    func run<Value: Sendable>(
        cost: RenderCost = RenderCost(milliseconds: 10, bytes: 0),
        _ job: @escaping @Sendable () throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        guard cost.bytes <= memory.limit else { throw .render(.tooMuchMemory(bytes: cost.bytes, limit: memory.limit)) }
        switch await turn(.current, cost.milliseconds) {
        case .cancelled: throw .cancelled
        case .refused(let seconds): throw .overloaded(retryAfter: seconds)
        case .now: break
        }
        let start = ContinuousClock.now
        var isDone = false
        defer {
            let took = isDone ? (ContinuousClock.now - start) / .milliseconds(1) : nil
            line.withLock { $0.finish(cost.milliseconds, took: took) }?.resume(returning: .now)
        }
        guard let pixels = memory.reserve(cost.bytes) else { throw .overloaded(retryAfter: retryAfter) }
        defer { withExtendedLifetime(pixels) {} }
        let result: Result<Value, PipelineError>
        do {
            result = try await threads.runIfActive {
                ThreadPriority.yieldToOthers()
                do throws(PipelineError) { return .success(try job()) } catch { return .failure(error) }
            }
        } catch {
            throw .cancelled
        }
        isDone = true
        return try result.get()
    }

    private func turn(_ urgency: Urgency, _ milliseconds: Double) async -> Turn {
        let ticket = line.withLock { $0.ticket() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let turn = line.withLock { line -> Turn? in
                    if Task.isCancelled { return .cancelled }
                    switch line.enter(ticket, urgency, milliseconds, continuation) {
                    case .now: return .now
                    case .later: return nil
                    case .refused(let seconds): return .refused(retryAfter: seconds)
                    }
                }
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            line.withLock { $0.leave(ticket) }?.resume(returning: .cancelled)
        }
    }

    /// Ends the threads once their jobs are done.
    package func shutdown() async {
        await withCheckedContinuation { done in
            threads.shutdownGracefully { _ in done.resume() }
        }
    }
}
