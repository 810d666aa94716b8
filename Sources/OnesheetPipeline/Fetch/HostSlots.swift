import Synchronization

/// Lets so many requests go to one host at a time. More wait in the order in which they came, and nobody else with them.
final class HostSlots: Sendable {
    private struct Line {
        var taken = 0
        var waiting: [(ticket: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private struct State {
        var lines: [OriginHost: Line] = [:]
        var tickets: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) {
        precondition(limit > 0, "somebody has to go")
        self.limit = limit
    }

    /// Runs `body` once there is room at `host`.
    /// - Throws: `CancellationError` where the caller is cancelled while it waits, and what `body` throws.
    func with<Value: Sendable>(_ host: OriginHost, _ body: () async throws -> Value) async throws -> Value {
        try await enter(host)
        defer { leave(host) }
        return try await body()
    }

    /// Requests at `host`, waiting ones included.
    func load(of host: OriginHost) -> Int { state.withLock { $0.lines[host].map { $0.taken + $0.waiting.count } ?? 0 } }

    private func enter(_ host: OriginHost) async throws {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.lines[host, default: Line()].taken < limit {
                        state.lines[host, default: Line()].taken += 1
                        return true
                    }
                    state.lines[host]?.waiting.append((ticket, continuation))
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let index = state.lines[host]?.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
                return state.lines[host]?.waiting.remove(at: index).continuation
            }
            waiter?.resume(returning: false)
        }
        guard isIn else { throw CancellationError() }
    }

    /// Hands the room on to who waits longest.
    private func leave(_ host: OriginHost) {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard var line = state.lines[host] else { return nil }
            let next = line.waiting.isEmpty ? nil : line.waiting.removeFirst().continuation
            if next == nil { line.taken -= 1 }
            state.lines[host] = line.taken == 0 ? nil : line
            return next
        }
        next?.resume(returning: true)
    }
}
