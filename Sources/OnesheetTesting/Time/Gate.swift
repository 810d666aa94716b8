internal import Synchronization

/// Holds tasks until a test opens it, so that a wait lasts as long as the test wants, without a clock.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var arrived = 0
        var nextID = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// The number of arrivals at the gate.
    public var arrived: Int { state.withLock { $0.arrived } }

    /// Waits until the gate opens.
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    public func pass() async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (outcome, due) = state.withLock { state in
                    state.arrived += 1
                    let arrived = state.arrived
                    let due = state.arrivals.filter { $0.count <= arrived }.map(\.continuation)
                    state.arrivals.removeAll { $0.count <= arrived }
                    if Task.isCancelled { return (Result<Void, any Error>.failure(CancellationError()) as Result?, due) }
                    if state.isOpen { return (.success(()), due) }
                    state.waiting[id] = continuation
                    return (nil, due)
                }
                if let outcome { continuation.resume(with: outcome) }
                for waiter in due { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    /// Waits until `count` tasks have arrived at the gate.
    public func hasBeenReached(by count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.arrived >= count { return true }
                state.arrivals.append((count, continuation))
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    /// Opens the gate for all present and future tasks.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }
}
