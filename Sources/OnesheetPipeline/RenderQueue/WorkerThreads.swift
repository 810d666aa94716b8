import NIOPosix
import OnesheetCore
import OnesheetImaging
import Synchronization

/// Threads for one kind of work, and a spare one if it has long jobs, for a short job beside them (`RenderQueue`). The number of
/// running and waiting jobs is bounded, and each job is answered by its deadline.
///
/// A thread that does not return from foreign code cannot be stopped. It keeps its slot and its memory, and counts as stuck. The
/// waiter of its job gets an error.
final class WorkerThreads: Sendable {
    private enum Turn {
        case now, cancelled
        case refused(retryAfter: Int)
    }

    private let threads: NIOThreadPool
    private let renderQueue: Mutex<RenderQueue<CheckedContinuation<Turn, Never>>>
    private let longestWait: Duration
    private let longestPrefetchWait: Duration
    private let deadline: Duration
    private let beginning = ContinuousClock.now

    /// - Parameters:
    ///   - hasLongJobs: whether the prediction of a job may be long. If all are short, a spare thread would have nothing to do.
    ///   - queue: waiting jobs of one urgency.
    ///   - longestWait: the longest wait of an interactive job.
    ///   - longestPrefetchWait: the longest wait of a prefetch.
    ///   - deadline: for one running job.
    ///   - memory: the budget for the bytes of jobs while they run.
    init(
        threads: Int, hasLongJobs: Bool, queue: Int, longestWait: Duration, longestPrefetchWait: Duration, deadline: Duration,
        memory: MemoryBudget
    ) {
        self.threads = NIOThreadPool(numberOfThreads: max(1, threads) + (hasLongJobs ? 1 : 0))
        renderQueue = Mutex(
            RenderQueue(
                workers: threads, queue: queue, longestWait: longestWait / .milliseconds(1), deadline: deadline / .milliseconds(1),
                memory: memory))
        self.longestWait = longestWait
        self.longestPrefetchWait = longestPrefetchWait
        self.deadline = deadline
        self.threads.start()
    }

    private var now: Double { (ContinuousClock.now - beginning) / .milliseconds(1) }

    /// Running and waiting jobs.
    var load: Int { renderQueue.withLock { $0.load } }

    /// Threads that have passed the deadline of their job.
    var stuck: Int { renderQueue.withLock { $0.stuck(at: now) } }

    func waiting(_ urgency: Urgency) -> Int { renderQueue.withLock { $0.waiting(urgency) } }

    /// Seconds after which a job that is refused now will probably be accepted.
    var retryAfter: Int { renderQueue.withLock { $0.retryAfter(.interactive, at: now) } }

    /// The seconds after which to retry; `nil` if a job would be accepted now.
    var refusal: Int? { renderQueue.withLock { $0.refusal(.current, for: .current, at: now) } }

    /// Runs `job` on a thread, with the urgency of the calling task.
    /// - Parameters:
    ///   - cost: its predicted cost.
    /// - Throws: `.overloaded` if it does not begin in time, `.timedOut` if it does not end in time, `.cancelled` if
    ///   the caller is cancelled, and any error of `job`.
    func run<Value: Sendable>(
        cost: RenderCost, _ job: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let ticket = renderQueue.withLock { $0.ticket() }
        switch await turn(ticket, urgency: .current, cost: cost) {
        case .cancelled: throw .cancelled
        case .refused(let seconds): throw .overloaded(retryAfter: seconds)
        case .now: break
        }
        let reservation = renderQueue.withLock { $0.takeMemory(of: ticket) }
        let outcome = FirstOutcome<Result<Value, Failure>>()
        threads.submit { [self] state in
            guard case .active = state else {
                reservation?.giveBack()
                finish(ticket, wasBegun: false)
                return outcome.give(.failure(.cancelled))
            }
            ThreadPriority.work.apply()
            let result: Result<Value, Failure>
            do throws(Failure) { result = .success(try job()) } catch { result = .failure(error) }
            // Release the memory before the next job begins, which may need it.
            reservation?.giveBack()
            finish(ticket, wasBegun: true)
            outcome.give(result)
        }
        let alarm = Alarms.shared.set(in: deadline) { [deadline] in outcome.give(.failure(.timedOut(deadline))) }
        defer { Alarms.shared.cancel(alarm) }
        return try await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            outcome.give(.failure(.cancelled))
        }.get()
    }

    private func turn(_ ticket: UInt64, urgency: Urgency, cost: RenderCost) async -> Turn {
        let (clients, milliseconds) = (WorkContext.current.clients, cost.milliseconds)
        let client = renderQueue.withLock { $0.least(of: clients.all, urgency) }
        var alarm: Alarms.ID?
        var listener: Int?
        defer {
            if let alarm { Alarms.shared.cancel(alarm) }
            if let listener { clients.ignore(listener) }
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (turn, displaced, seconds) = renderQueue.withLock { queue -> (Turn?, CheckedContinuation<Turn, Never>?, Int) in
                    if Task.isCancelled { return (.cancelled, nil, 0) }
                    let displaced = queue.displace(urgency, for: client, milliseconds: milliseconds, at: now)
                    let turn: Turn? =
                        switch queue.enter(
                            continuation, ticket: ticket, urgency, for: client, milliseconds: milliseconds, bytes: cost.bytes,
                            at: now)
                        {
                        case .now: .now
                        case .later: nil
                        case .refused(let seconds): .refused(retryAfter: seconds)
                        }
                    return (turn, displaced, displaced == nil ? 0 : queue.retryAfter(urgency, at: now))
                }
                displaced?.resume(returning: .refused(retryAfter: seconds))
                if let turn {
                    continuation.resume(returning: turn)
                } else {
                    alarm = limitWait(of: ticket, urgency, for: client, milliseconds: milliseconds)
                    listener = clients.listen { [self] client in renderQueue.withLock { $0.lend(ticket, to: client) } }
                }
            }
        } onCancel: {
            renderQueue.withLock { $0.leave(ticket) }?.resume(returning: .cancelled)
        }
    }

    /// Refuses the job of `ticket` if it still waits after the longest wait.
    private func limitWait(
        of ticket: UInt64, _ urgency: Urgency, for client: ClientKey, milliseconds: Double
    ) -> Alarms.ID {
        Alarms.shared.set(in: urgency == .prefetch ? longestPrefetchWait : longestWait) { [self] in
            let (waiter, seconds) = renderQueue.withLock { queue in
                (queue.leave(ticket), queue.retryAfter(urgency, for: client, milliseconds: milliseconds, at: now))
            }
            waiter?.resume(returning: .refused(retryAfter: seconds))
        }
    }

    private func finish(_ ticket: UInt64, wasBegun: Bool) {
        let (begun, refused, seconds) = renderQueue.withLock { queue in
            (queue.finish(ticket, wasBegun: wasBegun, at: now), queue.leaveWithoutMemory(), queue.retryAfter(.interactive, at: now))
        }
        for waiter in begun { waiter.resume(returning: .now) }
        for waiter in refused { waiter.resume(returning: .refused(retryAfter: seconds)) }
    }

    /// Cancels the waiting jobs, and ends the threads after the running ones.
    func shutdown() async {
        for waiter in renderQueue.withLock({ $0.leaveAll() }) { waiter.resume(returning: .cancelled) }
        await withCheckedContinuation { done in
            threads.shutdownGracefully { _ in done.resume() }
        }
    }
}
