internal import OnesheetCore
internal import Synchronization

/// The calls that were under way when a program ended or wrote what is no answer. Any of them may be the reason, so they are asked again one
/// at a time: then only that one fails. Clients take turns, and a call without a quick answer no longer holds up the others.
final class SuspectLine: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    /// The turn of a call.
    struct Turn: Sendable {
        fileprivate let line: SuspectLine
        fileprivate let ticket: Int
        fileprivate let alarm: Alarms.ID

        /// Must be called when the call has an answer.
        func end() {
            Alarms.shared.cancel(alarm)
            line.end(ticket)
        }
    }

    private struct State {
        var tickets = 0
        /// The call whose turn it is.
        var turn: Int?
        var waiting: [(ticket: Int, client: ClientKey, waiter: Waiter)] = []

        /// Ends the turn, and begins that of the client with the fewest calls.
        mutating func next() -> Waiter? {
            let counts = waiting.reduce(into: [ClientKey: Int]()) { $0[$1.client, default: 0] += 1 }
            let index = waiting.indices.min { counts[waiting[$0].client, default: 0] < counts[waiting[$1].client, default: 0] }
            guard let index else {
                turn = nil
                return nil
            }
            let next = waiting.remove(at: index)
            turn = next.ticket
            return next.waiter
        }
    }

    private let state = Mutex(State())
    private let patience: Duration

    /// - Parameter patience: the longest time for which a call is alone.
    init(patience: Duration = .seconds(1)) { self.patience = patience }

    /// Waits for the turn of a call of `client`. If the caller is cancelled, it returns at once.
    func turn(of client: ClientKey) async -> Turn {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let isNow = state.withLock { state in
                    if Task.isCancelled { return true }
                    if state.turn == nil {
                        state.turn = ticket
                        return true
                    }
                    state.waiting.append((ticket, client, waiter))
                    return false
                }
                if isNow { waiter.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.ticket == ticket }.map { state.waiting.remove(at: $0).waiter }
            }
            waiter?.resume()
        }
        return Turn(line: self, ticket: ticket, alarm: Alarms.shared.set(in: patience) { [self] in end(ticket) })
    }

    /// The calls that wait for their turn. Only tests use it.
    var waiting: Int { state.withLock { $0.waiting.count } }

    private func end(_ ticket: Int) {
        state.withLock { state in state.turn == ticket ? state.next() : nil }?.resume()
    }
}
