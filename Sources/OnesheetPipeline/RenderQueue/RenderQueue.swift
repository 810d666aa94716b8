import OnesheetCore

/// Decides the order of jobs and whether another one may wait. Interactive jobs go before prefetches; among them, the client that used
/// the least worker time goes first. A job is refused if it would wait too long, unless it is the only one of its client that waits: a
/// prediction may be wrong, and a client that asks for little is not refused for the long jobs of others.
///
/// A job begins when there is memory for it, too. It waits for the memory of jobs that run; jobs that need less pass it. If none runs that has
/// some, it is refused: what else is in memory may stay long, and may be the originals of those that wait.
///
/// A job cannot be interrupted. While all workers have long jobs, one more short one may run beside them, so that a few pictures that take
/// many seconds do not keep all others waiting.
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
        let bytes: Int
        let waiter: Waiter

        var isShort: Bool { RenderQueue.isShort(milliseconds) }
    }

    /// The waiting jobs of a client in a lane.
    private struct Waiting {
        /// Their predicted duration.
        var all = 0.0
        /// That of the short ones.
        var short = 0.0
        var shortCount = 0
    }

    private struct Job {
        /// The prediction.
        let milliseconds: Double
        let start: Double
        let lane: Urgency
        let client: ClientKey
        /// The milliseconds that its client was charged at the start.
        let charged: Double
        /// Whether it has memory.
        let hasMemory: Bool

        var isShort: Bool { RenderQueue.isShort(milliseconds) }
    }

    /// The longest prediction of a short job: ten times that of a usual poster.
    static var longestShort: Double { 250 }

    /// The largest lead of a client over the others, in milliseconds of work.
    private static var longestDebt: Double { 60_000 }

    /// The threads that render.
    private let workers: Int
    private let queue: Int
    private let longestWait: Double
    private let deadline: Double
    private var lanes: [Urgency: FairQueue<Place>] = [
        .interactive: FairQueue(longestDebt: longestDebt), .prefetch: FairQueue(longestDebt: longestDebt),
    ]
    private var waitingJobs: [Urgency: [ClientKey: Waiting]] = [:]
    private var running: [UInt64: Job] = [:]
    /// The memory of jobs that may begin and have not taken it yet.
    private var granted: [UInt64: MemoryReservation] = [:]
    private let memory: MemoryBudget?
    private var tickets: UInt64 = 0
    /// The ratio of measured to predicted durations.
    private(set) var slowness = 1.0

    /// - Parameters:
    ///   - queue: the most waiting jobs of one urgency.
    ///   - longestWait: the longest predicted wait of an interactive job, in milliseconds.
    ///   - deadline: milliseconds after which a running job counts as stuck.
    ///   - memory: for the jobs that need some; `nil` if none does.
    init(workers: Int, queue: Int, longestWait: Double, deadline: Double = .infinity, memory: MemoryBudget? = nil) {
        self.memory = memory
        self.workers = max(1, workers)
        self.queue = max(0, queue)
        self.longestWait = longestWait
        self.deadline = deadline
    }

    /// Running and waiting jobs.
    var load: Int { running.count + lanes.values.reduce(0) { $0 + $1.count } }

    func waiting(_ urgency: Urgency) -> Int { lanes[urgency]?.count ?? 0 }

    /// Workers whose job does not end.
    func stuck(at now: Double) -> Int { running.values.count { now - $0.start > deadline } }

    private static func isShort(_ milliseconds: Double) -> Bool { milliseconds <= longestShort }

    /// Whether a job may begin now: a worker is free, or it is a short one and all workers have long ones.
    private func mayBegin(_ urgency: Urgency, milliseconds: Double) -> Bool {
        running.count < workers || hasSpare && urgency == .interactive && Self.isShort(milliseconds)
    }

    /// Whether one more short job may run than there are workers.
    private var hasSpare: Bool { running.count == workers && running.values.allSatisfy { !$0.isShort } }

    /// Milliseconds until a newcomer of this urgency would begin. The workers that are free first share the jobs that wait before
    /// it; a worker that is busy beyond that takes none.
    /// - Parameter milliseconds: the prediction of the newcomer; 0 if it is unknown.
    func wait(_ urgency: Urgency, for client: ClientKey = .anonymous, milliseconds: Double = 0, at now: Double) -> Double {
        guard !mayBegin(urgency, milliseconds: milliseconds) else { return 0 }
        let mayPass = urgency == .interactive && Self.isShort(milliseconds)
        let waiting = waitingBefore(urgency, client, onlyShort: mayPass)
        let isFull = running.count > workers
        // The end of a long job lets nothing begin as long as a short one runs beside the others.
        let jobs = isFull && mayPass ? running.values.filter(\.isShort) : Array(running.values)
        let ends = jobs.map { remaining($0, at: now) }.sorted().dropFirst(isFull && !mayPass ? 1 : 0)
        var (wait, free) = (Double.infinity, 0.0)
        for (index, remaining) in ends.enumerated() {
            guard remaining < wait else { break }
            free += remaining
            wait = (waiting + free) / Double(index + 1)
        }
        return wait
    }

    /// Milliseconds of the waiting jobs that would begin before a newcomer of `client`: its own jobs, those of more urgent lanes, and
    /// jobs of each other client until that client was served as much.
    /// - Parameter onlyShort: whether the newcomer may pass long ones.
    private func waitingBefore(_ urgency: Urgency, _ client: ClientKey, onlyShort: Bool) -> Double {
        var sum = 0.0
        for lane in urgency == .interactive ? [Urgency.interactive] : Urgency.allCases {
            guard let queue = lanes[lane], let waiting = waitingJobs[lane] else { continue }
            guard lane == urgency else {
                sum += waiting.values.reduce(0) { $0 + $1.all } * slowness
                continue
            }
            let own = waiting[client].map { onlyShort ? $0.short : $0.all } ?? 0
            let turn = queue.debt(of: client) + (waiting[client]?.all ?? 0) * slowness
            sum += own * slowness
            for (other, jobs) in waiting where other != client {
                let all = (onlyShort ? jobs.short : jobs.all) * slowness
                let count = onlyShort ? jobs.shortCount : queue.count(of: other)
                let ahead = turn - queue.debt(of: other)
                // The last job before the newcomer runs to its end.
                if ahead >= 0 { sum += min(all, ahead + all / Double(max(count, 1))) }
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
    /// - Parameter milliseconds: as in `wait`.
    func refusal(
        _ urgency: Urgency, for client: ClientKey = .anonymous, milliseconds: Double = 0, at now: Double
    ) -> Int? {
        guard !mayBegin(urgency, milliseconds: milliseconds), let lane = lanes[urgency] else { return nil }
        if lane.count < queue || lane.canDisplace(for: client) {
            let isOnly = lane.count(of: client) == 0
            if urgency != .interactive || isOnly || wait(urgency, for: client, milliseconds: milliseconds, at: now) <= longestWait {
                return nil
            }
        }
        return retryAfter(urgency, for: client, milliseconds: milliseconds, at: now)
    }

    /// Seconds until a newcomer of this urgency would begin, from one second, the least value of `Retry-After`, to one hour.
    /// - Parameter milliseconds: as in `wait`.
    func retryAfter(_ urgency: Urgency, for client: ClientKey = .anonymous, milliseconds: Double = 0, at now: Double) -> Int {
        let wait = wait(urgency, for: client, milliseconds: milliseconds, at: now)
        return Int(min(max(1, (wait / 1000).rounded(.up)), 3600))
    }

    /// Removes the last job of the client with the most jobs from a full lane, if `client` has fewer.
    /// - Parameter milliseconds: as in `wait`.
    mutating func displace(_ urgency: Urgency, for client: ClientKey, milliseconds: Double = 0, at now: Double) -> Waiter? {
        guard !mayBegin(urgency, milliseconds: milliseconds), waiting(urgency) >= queue,
            refusal(urgency, for: client, milliseconds: milliseconds, at: now) == nil,
            let last = lanes[urgency]?.displace(for: client)
        else { return nil }
        subtract(last, from: urgency)
        return last.element.waiter
    }

    /// The one of `clients` with the fewest waiting jobs.
    func least(of clients: [ClientKey], _ urgency: Urgency) -> ClientKey { lanes[urgency]?.least(of: clients) ?? .anonymous }

    /// Lets `client` wait for the job of `ticket` too, if it waits. Its time still counts as that of the client that brought it.
    mutating func lend(_ ticket: UInt64, to client: ClientKey) {
        for lane in Urgency.allCases { lanes[lane]?.lend(ticket, to: client) }
    }

    mutating func ticket() -> UInt64 {
        tickets += 1
        return tickets
    }

    /// - Parameters:
    ///   - client: the client whose turns the job uses.
    ///   - milliseconds: the predicted duration of the job.
    ///   - bytes: the memory that it needs. `takeMemory(of:)` returns it once the job may begin.
    mutating func enter(
        _ waiter: Waiter, ticket: UInt64, _ urgency: Urgency, for client: ClientKey = .anonymous, milliseconds: Double,
        bytes: Int = 0, at now: Double
    ) -> Turn {
        if mayBegin(urgency, milliseconds: milliseconds) {
            if grant(bytes, to: ticket) {
                begin(ticket, milliseconds: milliseconds, bytes: bytes, of: client, in: urgency, at: now)
                return .now
            }
            guard waiting(urgency) < queue, memoryMayComeBack else {
                return .refused(retryAfter: retryAfter(urgency, for: client, milliseconds: milliseconds, at: now))
            }
        }
        if let seconds = refusal(urgency, for: client, milliseconds: milliseconds, at: now) {
            return .refused(retryAfter: seconds)
        }
        let place = Place(milliseconds: milliseconds, bytes: bytes, waiter: waiter)
        lanes[urgency]?.append(ticket, place, for: client)
        count(place, 1, of: client, in: urgency)
        return .later
    }

    /// Removes the waiter of `ticket`, if it is waiting.
    mutating func leave(_ ticket: UInt64) -> Waiter? {
        for lane in Urgency.allCases {
            guard let left = lanes[lane]?.remove(ticket) else { continue }
            subtract(left, from: lane)
            return left.element.waiter
        }
        return nil
    }

    /// Removes all waiters.
    mutating func leaveAll() -> [Waiter] {
        waitingJobs = [:]
        return Urgency.allCases.flatMap { lanes[$0]?.removeAll() ?? [] }.map(\.waiter)
    }

    /// Ends the job of `ticket`.
    /// - Parameter wasBegun: whether its duration is meaningful.
    /// - Returns: the waiters that begin now: one, or two if one of them is a short job beside long ones.
    mutating func finish(_ ticket: UInt64, wasBegun: Bool = true, at now: Double) -> [Waiter] {
        guard let job = running.removeValue(forKey: ticket) else { return [] }
        let elapsed = wasBegun ? now - job.start : 0
        lanes[job.lane]?.charge(elapsed - job.charged, to: job.client)
        if wasBegun, job.milliseconds > 0 {
            // Jobs of less than a millisecond say little about the machine, and a prediction may be a lie.
            slowness += 0.1 * min(job.milliseconds, 1) * (min(max(elapsed / job.milliseconds, 0.05), 20) - slowness)
        }
        var begun: [Waiter] = []
        while let waiter = beginNext(at: now) { begun.append(waiter) }
        return begun
    }

    /// Whether a running job has memory.
    private var memoryMayComeBack: Bool { running.values.contains(where: \.hasMemory) }

    /// Removes the waiters that `finish` has not begun although a worker is free, if no running job has memory.
    mutating func leaveWithoutMemory() -> [Waiter] {
        guard running.count < workers, !memoryMayComeBack else { return [] }
        var waiters: [Waiter] = []
        for lane in Urgency.allCases {
            while let next = lanes[lane]?.removeFirst(where: { $0.bytes > 0 }) {
                subtract(next, from: lane)
                waiters.append(next.element.waiter)
            }
        }
        return waiters
    }

    /// The memory of a job that may begin.
    mutating func takeMemory(of ticket: UInt64) -> MemoryReservation? { granted.removeValue(forKey: ticket) }

    /// Reserves memory for a job, if there is room.
    private mutating func grant(_ bytes: Int, to ticket: UInt64) -> Bool {
        guard bytes > 0, let memory else { return true }
        granted[ticket] = memory.reserve(bytes)
        return granted[ticket] != nil
    }

    /// Starts the next job, if one may begin.
    private mutating func beginNext(at now: Double) -> Waiter? {
        let isFree = running.count < workers
        guard isFree || hasSpare else { return nil }
        for lane in isFree ? Urgency.allCases : [.interactive] {
            guard
                let next = lanes[lane]?.removeFirst(where: { place in
                    (isFree || place.isShort) && (place.bytes == 0 || memory?.hasRoom(for: place.bytes) ?? true)
                })
            else { continue }
            guard grant(next.element.bytes, to: next.ticket) else {
                // Something else has taken the memory since.
                lanes[lane]?.putBack(next)
                continue
            }
            subtract(next, from: lane)
            begin(
                next.ticket, milliseconds: next.element.milliseconds, bytes: next.element.bytes, of: next.client, in: lane, at: now)
            return next.element.waiter
        }
        return nil
    }

    /// Starts a job, and charges its client with the predicted time.
    private mutating func begin(
        _ ticket: UInt64, milliseconds: Double, bytes: Int, of client: ClientKey, in lane: Urgency, at now: Double
    ) {
        let charged = milliseconds * slowness
        lanes[lane]?.serve(charged, to: client)
        running[ticket] = Job(
            milliseconds: milliseconds, start: now, lane: lane, client: client, charged: charged, hasMemory: bytes > 0)
    }

    /// Subtracts a job that no longer waits.
    private mutating func subtract(_ job: FairQueue<Place>.Removed, from lane: Urgency) {
        count(job.element, -1, of: job.owner, in: lane)
        // Rounding errors would otherwise accumulate in the sums.
        for client in job.holders where lanes[lane]?.count(of: client) == 0 { waitingJobs[lane]?[client] = nil }
    }

    /// - Parameter sign: 1 for a job that waits now, -1 for one that no longer does.
    private mutating func count(_ place: Place, _ sign: Int, of client: ClientKey, in lane: Urgency) {
        var jobs = waitingJobs[lane]?[client] ?? Waiting()
        jobs.all += Double(sign) * place.milliseconds
        if place.isShort {
            jobs.short += Double(sign) * place.milliseconds
            jobs.shortCount += sign
        }
        waitingJobs[lane, default: [:]][client] = jobs
    }
}
