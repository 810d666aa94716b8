import FoundationEssentials
import OnesheetCore
import OnesheetPipeline
import Synchronization

/// The running prefetches and the last ones that have ended. The administrator can list and stop them.
final class PrefetchJobs: Sendable {
    /// The maximum number of ended jobs.
    private static let maxEnded = 20
    struct Job: Encodable {
        /// Counts from 1, in order of beginning.
        let number: Int
        let source: String
        /// The number of answers among what was requested.
        let answers: Int
        let began: Date
        var ended: Date?
        /// `running`, `done`, `stopped` or `failed`.
        var state: State
        /// The progress with the last failures only.
        private(set) var progress: PrefetchSummary
        private(set) var failed = 0

        mutating func note(_ summary: PrefetchSummary) { (progress, failed) = (summary.withLastFailures(), summary.failed) }

        enum State: String, Encodable { case running, done, stopped, failed }
    }

    private struct Entry {
        var job: Job
        var stop: (@Sendable () -> Void)?
    }

    private let entries = Mutex<[Entry]>([])
    private let last = Atomic(0)
    private let clock: WallClock

    init(clock: WallClock) { self.clock = clock }

    /// All jobs, newest first.
    var all: [Job] { entries.withLock { $0.map(\.job).reversed() } }

    /// Runs `work` as a job that the administrator can stop.
    /// - Parameters:
    ///   - source: the name of the source.
    ///   - total: the number of variants requested.
    ///   - answers: the number of answers among them.
    ///   - work: receives a function to report its progress with.
    /// - Returns: the summary, and whether the administrator has stopped the job.
    func run(
        of source: String, variants total: Int, answers: Int,
        _ work: @escaping @Sendable (@escaping @Sendable (PrefetchSummary) -> Void) async -> PrefetchSummary
    ) async -> (summary: PrefetchSummary, wasStopped: Bool) {
        let number = last.add(1, ordering: .relaxed).newValue
        let job = Job(
            number: number, source: source, answers: answers, began: clock.now, state: .running,
            progress: PrefetchSummary(total: total))
        entries.withLock { $0.append(Entry(job: job)) }
        let task = Task { await work { [self] progress in change(number) { $0.job.note(progress) } } }
        change(number) { entry in
            entry.stop = { task.cancel() }
            if entry.job.state == .stopped { task.cancel() }
        }
        let summary = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        let wasStopped = end(number, with: summary)
        return (summary, wasStopped)
    }

    /// Stops the job with this number. The variants that it has made stay.
    /// - Returns: the job, or `nil` if there is none with this number.
    func stop(_ number: Int) -> Job? {
        let (job, stop) = entries.withLock { entries -> (Job?, (@Sendable () -> Void)?) in
            guard let index = entries.firstIndex(where: { $0.job.number == number }) else { return (nil, nil) }
            if entries[index].job.state == .running { entries[index].job.state = .stopped }
            return (entries[index].job, entries[index].stop)
        }
        stop?()
        return job
    }

    private func change(_ number: Int, _ body: (inout Entry) -> Void) {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.job.number == number }) else { return }
            body(&entries[index])
        }
    }

    /// - Returns: whether the administrator has stopped the job.
    private func end(_ number: Int, with summary: PrefetchSummary) -> Bool {
        entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.job.number == number }) else { return false }
            let wasStopped = entries[index].job.state == .stopped
            entries[index].stop = nil
            entries[index].job.ended = clock.now
            entries[index].job.note(summary)
            if !wasStopped { entries[index].job.state = summary.done == summary.total ? .done : .failed }
            while entries.count(where: { $0.job.ended != nil }) > Self.maxEnded,
                let oldest = entries.firstIndex(where: { $0.job.ended != nil })
            {
                entries.remove(at: oldest)
            }
            return wasStopped
        }
    }
}
