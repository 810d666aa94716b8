internal import NIOPosix

/// Runs tasks on a fixed number of its own threads, outside the cooperative pool: for code that may compute without end.
///
/// Nonisolated functions and default actors follow a task's preferred executor (SE-0417). Unstructured tasks that such code starts
/// do not.
package final class BoundedExecutor: TaskExecutor {
    private let threads: NIOThreadPool

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
}
