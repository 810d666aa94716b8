import Synchronization

/// A result that several tasks may deliver; the first one counts. One task waits for it, even if that task is cancelled.
package final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
        /// The waiter has the result; it is not stored.
        case over
    }

    private let state = Mutex(State.open)

    package init() {}

    package func give(_ value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .open:
                state = .given(value)
                return nil
            case .awaited(let waiter):
                state = .over
                return waiter
            case .given, .over: return nil
            }
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the result. Must be called once.
    package func value() async -> Value {
        await withCheckedContinuation { waiter in
            let value = state.withLock { state -> Value? in
                if case .given(let value) = state {
                    state = .over
                    return value
                }
                state = .awaited(waiter)
                return nil
            }
            if let value { waiter.resume(returning: value) }
        }
    }
}
