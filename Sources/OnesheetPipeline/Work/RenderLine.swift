import OnesheetCore

/// Who renders next, and whether one more may wait: people before prefetching, and nobody longer than is any use.
struct RenderLine<Waiter: Sendable>: Sendable {
    enum Turn: Equatable {
        /// A worker is free.
        case now
        case later
        /// Come back after so many seconds.
        case refused(retryAfter: Int)
    }

    private struct Place {
        let ticket: UInt64
        let milliseconds: Double
        let waiter: Waiter
    }

    private let workers: Int
    private let queue: Int
    private let longestWait: Double
    private var lanes: [Urgency: [Place]] = [.interactive: [], .prefetch: []]
    private var running = 0
    private var runningMilliseconds = 0.0
    private var tickets: UInt64 = 0
    /// How long renders take here, by how long they were predicted to.
    private(set) var slowness = 1.0

    /// - Parameters:
    ///   - queue: how many of one urgency may wait.
    ///   - longestWait: milliseconds that anybody is let wait, as far as can be foreseen.
    init(workers: Int, queue: Int, longestWait: Double) {
        (self.workers, self.queue, self.longestWait) = (max(1, workers), max(0, queue), longestWait)
    }

    /// At work and waiting.
    var load: Int { running + lanes.values.reduce(0) { $0 + $1.count } }

    func waiting(_ urgency: Urgency) -> Int { lanes[urgency]?.count ?? 0 }

    /// Milliseconds until a newcomer of this urgency would begin: half of what runs is done already, on average.
    func wait(_ urgency: Urgency) -> Double {
        guard running >= workers else { return 0 }
        let before = urgency == .interactive ? [Urgency.interactive] : Urgency.allCases
        let waiting = before.reduce(0) { $0 + (lanes[$1] ?? []).reduce(0) { $0 + $1.milliseconds } }
        return (runningMilliseconds / 2 + waiting) * slowness / Double(workers)
    }

    /// The seconds after which a newcomer of this urgency should come back; `nil` where one is taken.
    func refusal(_ urgency: Urgency) -> Int? {
        guard running >= workers else { return nil }
        guard waiting(urgency) >= queue || urgency == .interactive && wait(urgency) > longestWait else { return nil }
        return retryAfter(urgency)
    }

    /// Seconds until a newcomer of this urgency would begin, at least one: the shortest time that can be told.
    func retryAfter(_ urgency: Urgency) -> Int { max(1, Int((wait(urgency) / 1000).rounded(.up))) }

    mutating func ticket() -> UInt64 {
        tickets += 1
        return tickets
    }

    /// - Parameter milliseconds: what the render is predicted to take.
    mutating func enter(_ ticket: UInt64, _ urgency: Urgency, _ milliseconds: Double, _ waiter: Waiter) -> Turn {
        if running < workers {
            start(milliseconds)
            return .now
        }
        if let seconds = refusal(urgency) { return .refused(retryAfter: seconds) }
        lanes[urgency]?.append(Place(ticket: ticket, milliseconds: milliseconds, waiter: waiter))
        return .later
    }

    /// Takes whoever has `ticket` out of the line, if it waits.
    mutating func leave(_ ticket: UInt64) -> Waiter? {
        for lane in Urgency.allCases {
            if let index = lanes[lane]?.firstIndex(where: { $0.ticket == ticket }) { return lanes[lane]?.remove(at: index).waiter }
        }
        return nil
    }

    /// A render is over.
    /// - Parameter took: milliseconds; `nil` where it was not begun.
    /// - Returns: who is next.
    mutating func finish(_ milliseconds: Double, took: Double?) -> Waiter? {
        running -= 1
        runningMilliseconds -= milliseconds
        if let took, milliseconds > 0 { slowness += 0.1 * (min(max(took / milliseconds, 0.05), 20) - slowness) }
        for lane in Urgency.allCases {
            guard let next = lanes[lane]?.first else { continue }
            lanes[lane]?.removeFirst()
            start(next.milliseconds)
            return next.waiter
        }
        return nil
    }

    private mutating func start(_ milliseconds: Double) {
        running += 1
        runningMilliseconds += milliseconds
    }
}
