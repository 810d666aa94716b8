internal import NIOPosix
import Synchronization

/// Runs tasks on a fixed number of its own threads, outside the cooperative pool: for code that may compute without end.
///
/// Nonisolated functions and default actors follow a task's preferred executor (SE-0417). Unstructured tasks that such code starts
/// do not.
package final class BoundedExecutor: TaskExecutor {
    private let threads: NIOThreadPool
    /// Calls of `run` that have ended.
    private let ended = Atomic(0)

    package init(threads: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        self.threads.start()
    }

    deinit {
        // Not awaited: a thread that hangs never ends.
        threads.shutdownGracefully { _ in }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.submit { [self] state in
            // Jobs after the end run anyway: a task that never runs again keeps all that it holds.
            guard case .active = state else { return globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
            ThreadPriority.work.apply()
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// The end of a call with a limit.
    package enum Outcome<Value: Sendable>: Sendable {
        case answer(Value)
        case late
        /// It got no thread in time, which says nothing about the code that it calls.
        case crowded
        /// The caller was cancelled.
        case cancelled
    }

    /// Runs `work` for at most `limit` from the time when it has a thread, and then abandons it. If it gets none within `limit`, and no other
    /// call ends in that time, the calls on the threads take too long, and this one is late with them.
    /// - Parameter besides: as of `withTimeoutAbandoning`.
    package func run<Value: Sendable>(
        within limit: Duration, besides: @escaping @Sendable () -> Duration = { .zero },
        _ work: @escaping @Sendable () async -> Value
    ) async -> Outcome<Value> {
        let (start, beginning, before) = (ContinuousClock.now, Beginning(), ended.load(ordering: .relaxed))
        let answer = await withTimeoutAbandoning(limit, besides: { beginning.wait(since: start) + besides() }, on: self) { [self] in
            beginning.note()
            defer { ended.add(1, ordering: .relaxed) }
            return await work()
        }
        if let answer { return .answer(answer) }
        if Task.isCancelled { return .cancelled }
        return beginning.isNoted || ended.load(ordering: .relaxed) == before ? .late : .crowded
    }
}
