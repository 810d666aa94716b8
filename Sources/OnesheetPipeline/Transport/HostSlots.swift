import FoundationEssentials
import OnesheetCore
import Synchronization

/// Limits concurrent requests per host. Excess requests wait in a bounded FIFO queue; beyond that they fail immediately.
///
/// If others wait, requests that the host does not answer may keep at most half of the places, so that a few pictures that hang do not
/// block the rest of their host.
final class HostSlots: Sendable {
    /// The queue is full. Room is likely after `retryAfter` seconds.
    struct Full: Error, Equatable {
        let retryAfter: Int
    }

    /// One of a host's places, taken by a request.
    struct Place: Sendable {
        fileprivate let slots: HostSlots
        fileprivate let host: OriginHost
        fileprivate let ticket: UInt64
        fileprivate let start: Date

        /// The head of an answer has come.
        func answered() { slots.answered(self) }

        /// Whether the request may go on waiting for a head, for which it has waited `seconds`.
        func mayStay(after seconds: Double) -> Bool { slots.mayStay(self, seconds) }
    }

    private enum Turn {
        case now, cancelled
        case refused(Full)
    }

    private struct Line {
        var taken = 0
        /// Those that wait for a head longer than usual, and may.
        var silent: Set<UInt64> = []
        var waiting: [(ticket: UInt64, continuation: CheckedContinuation<Turn, Never>)] = []
        var estimator = RetryAfterEstimator()
    }

    private struct State {
        var lines: [OriginHost: Line] = [:]
        /// Seconds until a head comes, on average, the latest counting most.
        var heads: [OriginHost: Double] = [:]
        var tickets: UInt64 = 0
    }

    /// Hosts whose time to a head is known.
    private static let capacity = 1000

    private let state = Mutex(State())
    private let limit: Int
    private let queue: Int
    private let patience: Double
    private let clock: WallClock

    /// - Parameters:
    ///   - limit: requests at one host at a time.
    ///   - queue: the most requests that may wait.
    ///   - patience: seconds for which any request may wait for its answer, even if others wait for its place.
    init(limit: Int, queue: Int, patience: Double = 2.5, clock: WallClock) {
        precondition(limit > 0, "needs at least one request at a time")
        (self.limit, self.queue, self.patience, self.clock) = (limit, queue, patience, clock)
    }

    /// Runs `body` once there is room at `host`.
    /// - Throws: `Full` where too many wait, `CancellationError` where the caller is cancelled while it waits, and what `body` throws.
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

    /// Requests at `host`, waiting ones included.
    func load(of host: OriginHost) -> Int { state.withLock { $0.lines[host].map { $0.taken + $0.waiting.count } ?? 0 } }

    private func enter(_ host: OriginHost, _ ticket: UInt64) async -> Turn {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let turn = state.withLock { state -> Turn? in
                    if Task.isCancelled { return .cancelled }
                    var line = state.lines[host] ?? Line()
                    defer { state.lines[host] = line }
                    if line.taken < limit {
                        line.taken += 1
                        return .now
                    }
                    guard line.waiting.count < queue else {
                        return .refused(Full(retryAfter: line.estimator.retryAfter(waiting: line.waiting.count, places: limit)))
                    }
                    line.waiting.append((ticket, continuation))
                    return nil
                }
                if let turn { continuation.resume(returning: turn) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Turn, Never>? in
                guard let index = state.lines[host]?.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
                return state.lines[host]?.waiting.remove(at: index).continuation
            }
            waiter?.resume(returning: .cancelled)
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
            // A host that is slow with everything is let be slow.
            guard seconds >= max(patience, 4 * (state.heads[place.host] ?? 0)) else { return true }
            guard line.silent.count < limit / 2 else { return line.waiting.isEmpty }
            line.silent.insert(place.ticket)
            state.lines[place.host] = line
            return true
        }
    }

    /// Hands the room on to the one that waits longest.
    private func leave(_ place: Place) {
        let seconds = clock.now.timeIntervalSince(place.start)
        let next = state.withLock { state -> CheckedContinuation<Turn, Never>? in
            guard var line = state.lines[place.host] else { return nil }
            line.estimator.add(seconds)
            line.silent.remove(place.ticket)
            let next = line.waiting.isEmpty ? nil : line.waiting.removeFirst().continuation
            if next == nil { line.taken -= 1 }
            // Forget idle hosts, or their number would grow without bound.
            state.lines[place.host] = line.taken == 0 ? nil : line
            return next
        }
        next?.resume(returning: .now)
    }
}
