internal import OnesheetCore
internal import Synchronization

/// The calls that were under way when a program ended or wrote what is no answer. Any of them may be the reason, so they are asked again one
/// at a time, and so are new calls of their clients: then only the one that does it fails. Clients take turns, and a call without a quick
/// answer no longer holds up the others.
final class SuspectLine: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    /// The turn of a call.
    final class Turn: Sendable {
        private let line: SuspectLine
        private let ticket: Int
        private let alarm = Mutex<Alarms.ID?>(nil)

        fileprivate init(_ line: SuspectLine, _ ticket: Int) { (self.line, self.ticket) = (line, ticket) }

        /// Notes that the program is there and gets the call now. Its start takes as long as it takes.
        func begin() {
            let next = Alarms.shared.set(in: line.patience) { [line, ticket] in line.end(ticket) }
            replaceAlarm(with: next)
        }

        /// Must be called when the call has an answer.
        func end() {
            replaceAlarm(with: nil)
            line.end(ticket)
        }

        private func replaceAlarm(with next: Alarms.ID?) {
            let last = alarm.withLock { alarm in
                defer { alarm = next }
                return alarm
            }
            if let last { Alarms.shared.cancel(last) }
        }
    }

    private struct State {
        var tickets = 0
        /// The call whose turn it is.
        var turn: (ticket: Int, client: ClientKey)?
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
            turn = (next.ticket, next.client)
            return next.waiter
        }
    }

    private let state = Mutex(State())
    private let patience: Duration

    /// - Parameter patience: the longest time for which a call is alone with the program.
    init(patience: Duration = .seconds(1)) { self.patience = patience }

    /// Whether a call of `client` is in the line.
    func has(_ client: ClientKey) -> Bool {
        state.withLock { state in state.turn?.client == client || state.waiting.contains { $0.client == client } }
    }

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
                        state.turn = (ticket, client)
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
        return Turn(self, ticket)
    }

    /// The calls that wait for their turn. Only tests use it.
    var waiting: Int { state.withLock { $0.waiting.count } }

    private func end(_ ticket: Int) {
        state.withLock { state in state.turn?.ticket == ticket ? state.next() : nil }?.resume()
    }
}
