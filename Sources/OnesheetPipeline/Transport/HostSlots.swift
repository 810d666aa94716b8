import FoundationEssentials
import OnesheetCore
import Synchronization

/// Limits concurrent requests per host. Excess requests wait in a bounded queue in which clients take turns. If the queue is full, a
/// request fails immediately, or takes the place of the last request of a client that has more of them waiting.
///
/// If requests wait, requests without a response may hold at most half of the slots, so that a few pictures that hang do not block
/// the rest of their host.
final class HostSlots: Sendable {
    /// The queue is full. Room is likely after `retryAfter` seconds.
    struct Full: Error, Equatable {
        let retryAfter: Int
    }

    /// One of a host's slots, held by a request.
    struct Place: Sendable {
        fileprivate let slots: HostSlots
        fileprivate let host: OriginHost
        fileprivate let ticket: UInt64
        fileprivate let start: Date

        /// Records that the head of a response has arrived.
        func answered() { slots.answered(self) }

        /// Whether the request may continue to wait for a head, after `seconds`.
        func mayStay(after seconds: Double) -> Bool { slots.mayStay(self, seconds) }
    }

    private enum Turn {
        case now, cancelled
        case refused(Full)
    }

    private struct Line {
        var taken = 0
        /// Requests that wait longer than usual for a head and may continue.
        var silent: Set<UInt64> = []
        var waiting = FairQueue<CheckedContinuation<Turn, Never>>(longestDebt: longestDebt)
        var estimator = RetryAfterEstimator()
    }

    private struct State {
        var lines: [OriginHost: Line] = [:]
        /// The average seconds until a head arrives, weighted towards the latest.
        var heads: [OriginHost: Double] = [:]
        var tickets: UInt64 = 0
    }

    /// The largest lead of a client over the others, in requests.
    private static let longestDebt = 64.0
    /// Hosts with a known time to a head.
    private static let capacity = 1000

    private let state = Mutex(State())
    private let limit: Int
    private let queue: Int
    private let patience: Double
    private let clock: WallClock

    /// - Parameters:
    ///   - limit: concurrent requests to one host.
    ///   - queue: the most waiting requests.
    ///   - patience: seconds that any request may wait for its response, even if others wait for its slot.
    init(limit: Int, queue: Int, patience: Double = 2.5, clock: WallClock) {
        precondition(limit > 0, "needs at least one request at a time")
        self.limit = limit
        self.queue = queue
        self.patience = patience
        self.clock = clock
    }

    /// Runs `body` once `host` has a free slot.
    /// - Throws: `Full` if the queue is full, `CancellationError` if the caller is cancelled while it waits, and any error of
    ///   `body`.
    func with<Value: Sendable>(_ host: OriginHost, _ body: (Place) async throws -> Value) async throws -> Value {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        switch await enter(host, ticket) {
        case .now: break
        case .cancelled: throw CancellationError()
        case .refused(let full): throw full
        }
        let place = Place(slots: self, host: host, ticket: ticket, start: clock.now)
        defer { leave(place) }
        return try await body(place)
    }

    /// Requests to `host`, including waiting ones. Only tests use it: they wait until their requests are here.
    func load(of host: OriginHost) -> Int { state.withLock { $0.lines[host].map { $0.taken + $0.waiting.count } ?? 0 } }

    private func enter(_ host: OriginHost, _ ticket: UInt64) async -> Turn {
        let client = ClientKey.current
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (turn, refused) = state.withLock { state -> (Turn?, (CheckedContinuation<Turn, Never>, Full)?) in
                    if Task.isCancelled { return (.cancelled, nil) }
                    var line = state.lines[host] ?? Line()
                    defer { state.lines[host] = line }
                    if line.taken < limit {
                        line.taken += 1
                        line.waiting.serve(1, to: client)
                        return (.now, nil)
                    }
                    let isFull = line.waiting.count >= queue
                    let displaced = isFull ? line.waiting.displace(for: client)?.element : nil
                    let full = Full(retryAfter: line.estimator.retryAfter(waiting: line.waiting.count, places: limit))
                    guard !isFull || displaced != nil else { return (.refused(full), nil) }
                    line.waiting.append(ticket, continuation, for: client)
                    return (nil, displaced.map { ($0, full) })
                }
                if let (waiter, full) = refused { waiter.resume(returning: .refused(full)) }
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            state.withLock { $0.lines[host]?.waiting.remove(ticket) }?.resume(returning: .cancelled)
        }
    }

    private func answered(_ place: Place) {
        let seconds = clock.now.timeIntervalSince(place.start)
        state.withLock { state in
            state.lines[place.host]?.silent.remove(place.ticket)
            if state.heads.count >= Self.capacity, state.heads[place.host] == nil { state.heads = [:] }
            let known = state.heads[place.host] ?? max(seconds, 0)
            state.heads[place.host] = known + 0.2 * (max(seconds, 0) - known)
        }
    }

    private func mayStay(_ place: Place, _ seconds: Double) -> Bool {
        state.withLock { state in
            guard var line = state.lines[place.host], !line.silent.contains(place.ticket) else { return true }
            // A host that is slow with every request may be slow.
            guard seconds >= max(patience, 4 * (state.heads[place.host] ?? 0)) else { return true }
            guard line.silent.count < limit / 2 else { return line.waiting.count == 0 }
            line.silent.insert(place.ticket)
            state.lines[place.host] = line
            return true
        }
    }

    /// Passes the slot to the next client.
    private func leave(_ place: Place) {
        let seconds = clock.now.timeIntervalSince(place.start)
        let next = state.withLock { state -> CheckedContinuation<Turn, Never>? in
            guard var line = state.lines[place.host] else { return nil }
            line.estimator.add(seconds)
            line.silent.remove(place.ticket)
            let next = line.waiting.removeFirst()
            if let next { line.waiting.charge(1, to: next.client) } else { line.taken -= 1 }
            // Forget idle hosts, otherwise their number would grow without bound.
            state.lines[place.host] = line.taken == 0 ? nil : line
            return next?.element
        }
        next?.resume(returning: .now)
    }
}
