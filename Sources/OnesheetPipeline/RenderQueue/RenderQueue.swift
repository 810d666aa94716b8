import OnesheetCore

/// Decides the order of jobs and whether another one may wait. Interactive jobs go before prefetches; among them, the client that used
/// the least worker time goes first. A job is refused if it would wait too long.
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
        let lane: Urgency
        let client: ClientKey
        /// The milliseconds that its client was charged at the start.
        let charged: Double
    }

    /// The largest lead of a client over the others, in milliseconds of work.
    private static var longestDebt: Double { 60_000 }

    private let workers: Int
    private let queue: Int
    private let longestWait: Double
    private let deadline: Double
    private var lanes: [Urgency: FairQueue<Place>] = [
        .interactive: FairQueue(longestDebt: longestDebt), .prefetch: FairQueue(longestDebt: longestDebt),
    ]
    /// The predicted duration of all waiting jobs of a lane, by client.
    private var waitingMilliseconds: [Urgency: [ClientKey: Double]] = [:]
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
    func wait(_ urgency: Urgency, for client: ClientKey = .anonymous, at now: Double) -> Double {
        guard running.count >= workers else { return 0 }
        let waiting = waitingBefore(urgency, client)
        var (wait, free) = (Double.infinity, 0.0)
        for (index, remaining) in running.values.map({ remaining($0, at: now) }).sorted().enumerated() {
            guard remaining < wait else { break }
            free += remaining
            wait = (waiting + free) / Double(index + 1)
        }
        return wait
    }

    /// Milliseconds of the waiting jobs that would begin before a newcomer of `client`: its own jobs, those of more urgent lanes, and
    /// jobs of each other client until that client was served as much.
    private func waitingBefore(_ urgency: Urgency, _ client: ClientKey) -> Double {
        var sum = 0.0
        for lane in urgency == .interactive ? [Urgency.interactive] : Urgency.allCases {
            guard let queue = lanes[lane], let waiting = waitingMilliseconds[lane] else { continue }
            guard lane == urgency else {
                sum += waiting.values.reduce(0, +) * slowness
                continue
            }
            let own = (waiting[client] ?? 0) * slowness
            let turn = queue.debt(of: client) + own
            sum += own
            for (other, milliseconds) in waiting where other != client {
                let (all, ahead) = (milliseconds * slowness, turn - queue.debt(of: other))
                // The last job before the newcomer runs to its end.
                if ahead >= 0 { sum += min(all, ahead + all / Double(max(queue.count(of: other), 1))) }
            }
        }
        return sum
    }

    /// The predicted remaining time of a job. A job that has exceeded its prediction will probably take as long again.
    private func remaining(_ job: Job, at now: Double) -> Double {
        let (expected, elapsed) = (job.milliseconds * slowness, now - job.start)
        return min(elapsed < expected ? expected - elapsed : elapsed, deadline)
    }

    /// The seconds after which a newcomer of this urgency should retry; `nil` if it is accepted now.
    func refusal(_ urgency: Urgency, for client: ClientKey = .anonymous, at now: Double) -> Int? {
        guard running.count >= workers else { return nil }
        let hasRoom = waiting(urgency) < queue || lanes[urgency]?.canDisplace(for: client) == true
        if hasRoom, urgency != .interactive || wait(urgency, for: client, at: now) <= longestWait { return nil }
        return retryAfter(urgency, for: client, at: now)
    }

    /// Seconds until a newcomer of this urgency would begin, from one second, the least value of `Retry-After`, to one hour.
    func retryAfter(_ urgency: Urgency, for client: ClientKey = .anonymous, at now: Double) -> Int {
        Int(min(max(1, (wait(urgency, for: client, at: now) / 1000).rounded(.up)), 3600))
    }

    /// Removes the last job of the client with the most jobs from a full lane, if `client` has fewer.
    mutating func displace(_ urgency: Urgency, for client: ClientKey, at now: Double) -> Waiter? {
        guard running.count >= workers, waiting(urgency) >= queue, refusal(urgency, for: client, at: now) == nil,
            let last = lanes[urgency]?.displace(for: client)
        else { return nil }
        subtract(last.element, of: last.client, from: urgency)
        return last.element.waiter
    }

    mutating func ticket() -> UInt64 {
        tickets += 1
        return tickets
    }

    /// - Parameters:
    ///   - client: the client whose turns the job uses.
    ///   - milliseconds: the predicted duration of the job.
    mutating func enter(
        _ waiter: Waiter, ticket: UInt64, _ urgency: Urgency, for client: ClientKey = .anonymous, milliseconds: Double,
        at now: Double
    ) -> Turn {
        if running.count < workers {
            begin(ticket, milliseconds: milliseconds, of: client, in: urgency, at: now)
            return .now
        }
        if let seconds = refusal(urgency, for: client, at: now) { return .refused(retryAfter: seconds) }
        lanes[urgency]?.append(ticket, Place(milliseconds: milliseconds, waiter: waiter), for: client)
        waitingMilliseconds[urgency, default: [:]][client, default: 0] += milliseconds
        return .later
    }

    /// Removes the waiter of `ticket`, if it is waiting.
    mutating func leave(_ ticket: UInt64) -> Waiter? {
        for lane in Urgency.allCases {
            guard let client = lanes[lane]?.client(of: ticket), let place = lanes[lane]?.remove(ticket) else { continue }
            subtract(place, of: client, from: lane)
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
        let taken = wasBegun ? now - job.start : 0
        lanes[job.lane]?.charge(taken - job.charged, to: job.client)
        if wasBegun, job.milliseconds > 0 {
            // Jobs of less than a millisecond say little about the machine, and a prediction may be a lie.
            slowness += 0.1 * min(job.milliseconds, 1) * (min(max(taken / job.milliseconds, 0.05), 20) - slowness)
        }
        for lane in Urgency.allCases {
            guard let next = lanes[lane]?.removeFirst() else { continue }
            subtract(next.element, of: next.client, from: lane)
            begin(next.ticket, milliseconds: next.element.milliseconds, of: next.client, in: lane, at: now)
            return next.element.waiter
        }
        return nil
    }

    /// Starts a job, and charges its client with the predicted time.
    private mutating func begin(_ ticket: UInt64, milliseconds: Double, of client: ClientKey, in lane: Urgency, at now: Double) {
        let charged = milliseconds * slowness
        lanes[lane]?.serve(charged, to: client)
        running[ticket] = Job(milliseconds: milliseconds, start: now, lane: lane, client: client, charged: charged)
    }

    /// Subtracts a job that no longer waits from the predicted duration of its lane.
    private mutating func subtract(_ place: Place, of client: ClientKey, from lane: Urgency) {
        // Rounding errors would otherwise accumulate in the sum.
        let rest = (waitingMilliseconds[lane]?[client] ?? 0) - place.milliseconds
        waitingMilliseconds[lane]?[client] = lanes[lane]?.count(of: client) == 0 ? nil : rest
    }
}
