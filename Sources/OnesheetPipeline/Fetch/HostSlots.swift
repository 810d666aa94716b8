import FoundationEssentials
import OnesheetCore
import Synchronization

/// Lets so many requests go to one host at a time. So many more wait in the order in which they came, and nobody else with them; one
/// more is refused at once.
final class HostSlots: Sendable {
    /// Too many wait already; probably not any more after so many seconds.
    struct Full: Error, Equatable {
        let retryAfter: Int
    }

    private enum Turn {
        case now, cancelled
        case refused(Full)
    }

    private struct Line {
        var taken = 0
        var waiting: [(ticket: UInt64, continuation: CheckedContinuation<Turn, Never>)] = []
        var turnover = Turnover()
    }

    private struct State {
        var lines: [OriginHost: Line] = [:]
        var tickets: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limit: Int
    private let queue: Int
    private let clock: WallClock

    /// - Parameters:
    ///   - limit: requests at one host at a time.
    ///   - queue: how many more may wait.
    init(limit: Int, queue: Int, clock: WallClock) {
        precondition(limit > 0, "somebody has to go")
        (self.limit, self.queue, self.clock) = (limit, queue, clock)
    }

    /// Runs `body` once there is room at `host`.
    /// - Throws: `Full` where too many wait, `CancellationError` where the caller is cancelled while it waits, and what `body` throws.
    func with<Value: Sendable>(_ host: OriginHost, _ body: () async throws -> Value) async throws -> Value {
        switch await enter(host) {
        case .now: break
        case .cancelled: throw CancellationError()
        case .refused(let full): throw full
        }
        let start = clock.now
        defer { leave(host, after: clock.now.timeIntervalSince(start)) }
        return try await body()
    }

    /// Requests at `host`, waiting ones included.
    func load(of host: OriginHost) -> Int { state.withLock { $0.lines[host].map { $0.taken + $0.waiting.count } ?? 0 } }

    private func enter(_ host: OriginHost) async -> Turn {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        return await withTaskCancellationHandler {
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
                        return .refused(Full(retryAfter: line.turnover.retryAfter(waiting: line.waiting.count, places: limit)))
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

    /// Hands the room on to who waits longest.
    private func leave(_ host: OriginHost, after seconds: Double) {
        let next = state.withLock { state -> CheckedContinuation<Turn, Never>? in
            guard var line = state.lines[host] else { return nil }
            line.turnover.add(seconds)
            let next = line.waiting.isEmpty ? nil : line.waiting.removeFirst().continuation
            if next == nil { line.taken -= 1 }
            // A host that nobody asks is forgotten, or their number would grow without bound.
            state.lines[host] = line.taken == 0 ? nil : line
            return next
        }
        next?.resume(returning: .now)
    }
}
