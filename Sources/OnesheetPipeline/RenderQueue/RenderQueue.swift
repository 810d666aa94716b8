import OnesheetCore

/// Decides the order of jobs and whether another one may wait. Interactive jobs go before prefetches. A job is refused if it would
/// wait too long.
///
/// Times are milliseconds since an arbitrary start.
struct RenderQueue<Waiter: Sendable>: Sendable {
    enum Turn: Equatable {
        /// A worker is free.
        case now
        case later
        /// Retry after this many seconds.
        case refused(retryAfter: Int)
    }

    private struct Place {
        let milliseconds: Double
        let waiter: Waiter
    }

    private struct Job {
        /// The prediction.
        let milliseconds: Double
        let start: Double
    }

    private let workers: Int
    private let queue: Int
    private let longestWait: Double
    private let deadline: Double
    private var lanes: [Urgency: TicketQueue<Place>] = [.interactive: TicketQueue(), .prefetch: TicketQueue()]
    /// The predicted duration of all waiting jobs of a lane.
    private var waitingMilliseconds: [Urgency: Double] = [:]
    private var running: [UInt64: Job] = [:]
    private var tickets: UInt64 = 0
    /// The ratio of measured to predicted durations.
    private(set) var slowness = 1.0

    /// - Parameters:
    ///   - queue: the most waiting jobs of one urgency.
    ///   - longestWait: the longest predicted wait of an interactive job, in milliseconds.
    ///   - deadline: milliseconds after which a running job counts as stuck.
    init(workers: Int, queue: Int, longestWait: Double, deadline: Double = .infinity) {
        (self.workers, self.queue, self.longestWait, self.deadline) = (max(1, workers), max(0, queue), longestWait, deadline)
    }

    /// Running and waiting jobs.
    var load: Int { running.count + lanes.values.reduce(0) { $0 + $1.count } }

    func waiting(_ urgency: Urgency) -> Int { lanes[urgency]?.count ?? 0 }

    /// Workers whose job does not end.
    func stuck(at now: Double) -> Int { running.values.count { now - $0.start > deadline } }

    /// Milliseconds until a newcomer of this urgency would begin. The workers that are free first share the jobs that wait before
    /// it; a worker that is busy beyond that takes none.
    func wait(_ urgency: Urgency, at now: Double) -> Double {
        guard running.count >= workers else { return 0 }
        let before = urgency == .interactive ? [Urgency.interactive] : Urgency.allCases
        let waiting = before.reduce(0) { $0 + (waitingMilliseconds[$1] ?? 0) } * slowness
        var (wait, free) = (Double.infinity, 0.0)
        for (index, remaining) in running.values.map({ remaining($0, at: now) }).sorted().enumerated() {
            guard remaining < wait else { break }
            free += remaining
            wait = (waiting + free) / Double(index + 1)
        }
        return wait
    }

    /// The predicted remaining time of a job. A job that has exceeded its prediction will probably take as long again.
    private func remaining(_ job: Job, at now: Double) -> Double {
        let (expected, elapsed) = (job.milliseconds * slowness, now - job.start)
        return min(elapsed < expected ? expected - elapsed : elapsed, deadline)
    }

    /// The seconds after which a newcomer of this urgency should retry; `nil` if it is accepted now.
    func refusal(_ urgency: Urgency, at now: Double) -> Int? {
        guard running.count >= workers else { return nil }
        guard waiting(urgency) >= queue || urgency == .interactive && wait(urgency, at: now) > longestWait else { return nil }
        return retryAfter(urgency, at: now)
    }

    /// Seconds until a newcomer of this urgency would begin, from one second, the least value of `Retry-After`, to one hour.
    func retryAfter(_ urgency: Urgency, at now: Double) -> Int {
        Int(min(max(1, (wait(urgency, at: now) / 1000).rounded(.up)), 3600))
    }

    mutating func ticket() -> UInt64 {
        tickets += 1
        return tickets
    }

    /// - Parameter milliseconds: the predicted duration of the job.
    mutating func enter(
        _ waiter: Waiter, ticket: UInt64, _ urgency: Urgency, milliseconds: Double, at now: Double
    ) -> Turn {
        if running.count < workers {
            running[ticket] = Job(milliseconds: milliseconds, start: now)
            return .now
        }
        if let seconds = refusal(urgency, at: now) { return .refused(retryAfter: seconds) }
        lanes[urgency]?.append(ticket, Place(milliseconds: milliseconds, waiter: waiter))
        waitingMilliseconds[urgency, default: 0] += milliseconds
        return .later
    }

    /// Removes the waiter of `ticket`, if it is waiting.
    mutating func leave(_ ticket: UInt64) -> Waiter? {
        for lane in Urgency.allCases {
            guard let place = lanes[lane]?.remove(ticket) else { continue }
            left(lane, place)
            return place.waiter
        }
        return nil
    }

    /// Removes all waiters.
    mutating func leaveAll() -> [Waiter] {
        waitingMilliseconds = [:]
        return Urgency.allCases.flatMap { lanes[$0]?.removeAll() ?? [] }.map(\.waiter)
    }

    /// Ends the job of `ticket`.
    /// - Parameter wasBegun: whether its duration is meaningful.
    /// - Returns: the next waiter.
    mutating func finish(_ ticket: UInt64, wasBegun: Bool = true, at now: Double) -> Waiter? {
        guard let job = running.removeValue(forKey: ticket) else { return nil }
        if wasBegun, job.milliseconds > 0 {
            slowness += 0.1 * (min(max((now - job.start) / job.milliseconds, 0.05), 20) - slowness)
        }
        for lane in Urgency.allCases {
            guard let next = lanes[lane]?.removeFirst() else { continue }
            left(lane, next.element)
            running[next.ticket] = Job(milliseconds: next.element.milliseconds, start: now)
            return next.element.waiter
        }
        return nil
    }

    private mutating func left(_ lane: Urgency, _ place: Place) {
        // Rounding errors would otherwise accumulate in the sum.
        waitingMilliseconds[lane] = waiting(lane) == 0 ? 0 : (waitingMilliseconds[lane] ?? 0) - place.milliseconds
    }
}
