package import OnesheetCore
import OnesheetImaging

/// The threads that examine bytes from outside and render. The number of running and waiting jobs and their memory are bounded; jobs
/// beyond that fail immediately.
///
/// The bytes decide how long such a job keeps a processor busy. On the cooperative pool it would stop everything else.
package final class RenderPool: Sendable {
    /// The memory for originals and pixels.
    package let memory: MemoryBudget
    private let renders: Workers
    /// Threads of their own: looking at a header waits for no render, and no render for those.
    private let examiners: Workers

    /// How many threads look at what has come: a look takes milliseconds.
    private static let examiningThreads = 2
    /// Looks of one urgency that may wait, at the least.
    private static let examiningQueue = 1024
    /// The longest that one may take, which is a thousand times what it takes.
    private static let examiningDeadline = Duration.seconds(5)

    /// - Parameters:
    ///   - workers: threads that render.
    ///   - queue: jobs of one urgency that may wait for one.
    ///   - longestWait: the longest wait of an interactive job.
    ///   - longestPrefetchWait: the longest wait of a prefetch.
    ///   - deadline: for one render. Its waiter is answered a tenth of that later, so that a render that ends itself in time is
    ///     not abandoned.
    ///   - memory: what originals under way and decoded pixels may occupy.
    package init(
        workers: Int, queue: Int, longestWait: Duration = .seconds(10), longestPrefetchWait: Duration = .seconds(600),
        deadline: Duration = .seconds(20), memory: MemoryBudget = MemoryBudget(limit: 512 << 20)
    ) {
        renders = Workers(
            threads: max(1, workers), queue: queue, longestWait: longestWait, longestPrefetchWait: longestPrefetchWait,
            deadline: deadline + deadline / 10)
        examiners = Workers(
            threads: Self.examiningThreads, queue: max(queue, Self.examiningQueue), longestWait: longestWait,
            longestPrefetchWait: longestPrefetchWait, deadline: min(deadline, Self.examiningDeadline))
        self.memory = memory
    }

    /// Renders at work and waiting.
    package var load: Int { renders.load }

    /// Renders of this urgency that wait.
    package func waiting(_ urgency: Urgency) -> Int { renders.waiting(urgency) }

    /// Threads whose job is past its deadline and does not end, by what they are for.
    package var stuck: (render: Int, examine: Int) { (renders.stuck, examiners.stuck) }

    /// Seconds after which a job that is refused now can probably be taken.
    package var retryAfter: Int { renders.retryAfter }

    /// Refuses a render before any work is done for it.
    /// - Throws: `.overloaded` where a job that comes now would not be taken.
    func checkRoom() throws(PipelineError) {
        if let seconds = renders.refusal { throw .overloaded(retryAfter: seconds) }
    }

    /// Runs `job`, which makes pixels, with the urgency of the task that asks.
    /// - Parameter cost: what it is predicted to take.
    /// - Throws: `.overloaded` where it does not begin in time or has no room, `.timedOut` where it does not end in time, `.cancelled`
    ///   where the caller was cancelled, and what `job` throws.
    func run<Value: Sendable>(
        cost: RenderCost = RenderCost(milliseconds: 10, bytes: 0),
        _ job: @escaping @Sendable () throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        guard cost.bytes <= memory.limit else { throw .render(.tooMuchMemory(bytes: cost.bytes, limit: memory.limit)) }
        return try await renders.run(cost: cost, of: memory, job)
    }

    /// Runs `job`, which looks at bytes from outside and makes no pixels: reads a header, takes a hash.
    /// - Throws: as `run` does.
    func examine<Value: Sendable>(
        _ job: @escaping @Sendable () throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        try await examiners.run(cost: RenderCost(milliseconds: 1, bytes: 0), of: memory, job)
    }

    /// Ends the threads once their jobs are done. A stuck job never is: the caller has to bound the wait.
    package func shutdown() async {
        async let rendering: Void = renders.shutdown()
        await examiners.shutdown()
        await rendering
    }
}
