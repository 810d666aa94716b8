internal import Synchronization

/// Work that runs behind answers and may be left out, bounded by its number and the bytes that it holds.
package final class BackgroundWork: Sendable {
    private struct State {
        var count = 0
        var bytes = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let byteLimit: Int
    private let state = Mutex(State())

    package init(limit: Int, bytes: Int) {
        self.limit = limit
        byteLimit = bytes
    }

    /// Begins `work`, unless there is too much already.
    /// - Parameter bytes: the bytes that it holds.
    package func run(bytes: Int = 0, _ work: @escaping @Sendable () async -> Void) {
        let hasBegun = state.withLock { state in
            guard state.count < limit, state.bytes + bytes <= byteLimit else { return false }
            state.count += 1
            state.bytes += bytes
            return true
        }
        guard hasBegun else { return }
        Task {
            await work()
            end(bytes: bytes)
        }
    }

    private func end(bytes: Int) {
        let due = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.count -= 1
            state.bytes -= bytes
            guard state.count == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits until none is under way.
    package func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}
