internal import NIOPosix

/// Runs tasks on so many threads of its own, and never on the cooperative pool: for code that may compute as long as it likes.
///
/// Functions that are isolated to nothing and default actors follow a task's preferred executor (SE-0417); tasks that such code starts
/// by itself do not.
package final class BoundedExecutor: TaskExecutor {
    private let threads: NIOThreadPool

    package init(threads: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threads)
        self.threads.start()
    }

    deinit {
        // Not waited for: a thread that hangs does not end.
        threads.shutdownGracefully { _ in }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.submit { [self] state in
            // What comes after the end is run all the same: a task that is never run again keeps all that it holds.
            guard case .active = state else { return globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
