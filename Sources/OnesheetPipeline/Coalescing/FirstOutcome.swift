import Synchronization

/// An outcome that several may give, of whom the first counts; one waits for it, whether it is cancelled or not.
package final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
        /// Who waited has it, and nobody else keeps it.
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

    /// Waits for the outcome; to be called once.
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
