package import OnesheetCore
import OnesheetImaging

/// The threads that parse bytes from outside and render. The number of running and waiting jobs and their memory are bounded; jobs
/// beyond that fail immediately.
///
/// The bytes decide how long such a job occupies a processor. On the cooperative pool it would block all other work.
package final class RenderPool: Sendable {
    /// The memory for originals and pixels.
    package let memory: MemoryBudget
    /// The part of the memory for responses that are read from a disk. It is a quarter, which leaves room for renders.
    let reading: MemoryBudget
    private let renders: WorkerThreads
    /// Separate threads: parsing a header never waits for a render, nor a render for a header.
    private let examiners: WorkerThreads

    /// The number of threads for inspections, which take milliseconds.
    private static let examiningThreads = 2
    /// The least number of waiting inspections of one urgency.
    private static let examiningQueue = 1024
    /// The deadline of an inspection: a thousand times its usual duration. A render process is killed a little earlier.
    private static let examiningDeadline = Duration.seconds(5)

    /// - Parameters:
    ///   - workers: threads that render.
    ///   - queue: waiting jobs of one urgency.
    ///   - longestWait: the longest wait of an interactive job.
    ///   - longestPrefetchWait: the longest wait of a prefetch.
    ///   - deadline: for one render. The waiter is answered a tenth of it later, so that a render that ends itself in time is not
    ///     abandoned.
    ///   - memory: the budget for originals and decoded pixels.
    package init(
        workers: Int, queue: Int, longestWait: Duration = .seconds(10), longestPrefetchWait: Duration = .seconds(600),
        deadline: Duration = .seconds(20), memory: MemoryBudget = MemoryBudget(limit: 512 << 20)
    ) {
        renders = WorkerThreads(
            threads: max(1, workers), hasLongJobs: true, queue: queue, longestWait: longestWait,
            longestPrefetchWait: longestPrefetchWait, deadline: deadline + deadline / 10, memory: memory)
        examiners = WorkerThreads(
            threads: Self.examiningThreads, hasLongJobs: false, queue: max(queue, Self.examiningQueue), longestWait: longestWait,
            longestPrefetchWait: longestPrefetchWait, deadline: min(deadline, Self.examiningDeadline), memory: memory)
        self.memory = memory
        reading = MemoryBudget(limit: memory.limit / 4, of: memory, isFair: true)
    }

    /// Running and waiting renders.
    package var load: Int { renders.load }

    /// Waiting renders of this urgency.
    package func waiting(_ urgency: Urgency) -> Int { renders.waiting(urgency) }

    /// Threads whose job has passed its deadline and does not end, by purpose.
    package var stuck: (render: Int, examine: Int) { (renders.stuck, examiners.stuck) }

    /// Seconds after which a job that is refused now will probably be accepted.
    package var retryAfter: Int { renders.retryAfter }

    /// Refuses a render before any work is done for it.
    /// - Throws: `.overloaded` if a job would be refused now.
    func checkRoom() throws(Failure) {
        if let seconds = renders.refusal { throw .overloaded(retryAfter: seconds) }
    }

    /// Runs `job`, which makes pixels, with the urgency of the calling task.
    /// - Parameter cost: its predicted cost.
    /// - Throws: `.overloaded` if it does not begin in time or has no room, `.timedOut` if it does not end in time, `.cancelled` if
    ///   the caller is cancelled, and any error of `job`.
    func run<Value: Sendable>(
        cost: RenderCost, _ job: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard cost.bytes <= memory.limit else { throw .render(.tooMuchMemory(bytes: cost.bytes, limit: memory.limit)) }
        return try await renders.run(cost: cost, job)
    }

    /// Runs `job`, which inspects bytes from outside and makes no pixels: parses a header, computes a hash.
    /// - Throws: as `run` does.
    func examine<Value: Sendable>(
        _ job: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await examiners.run(cost: RenderCost(milliseconds: 1, bytes: 0), job)
    }

    /// Ends the threads after their jobs. A stuck job never ends, so the caller must bound the wait.
    package func shutdown() async {
        async let rendering: Void = renders.shutdown()
        await examiners.shutdown()
        await rendering
    }
}
