import Synchronization

/// The clients that wait for one piece of work. A client that joins lends the work its own turns: in each queue, the work waits in the line
/// of every client, and the earliest turn counts. So no client waits longer for work that another one began than for its own.
///
/// Nested work calls `listen` to get the same clients.
package final class FlightClients: Sendable {
    private struct State {
        var all: [ClientKey]
        var listeners: [Int: @Sendable (ClientKey) -> Void] = [:]
        var listened = 0
        /// The clients that took the place of another one.
        var replaced = 0
    }

    /// The most clients of a piece of work, and the most whose turns an element of a queue has. A further client takes the place of another
    /// than the first one: those who come early could keep everybody else waiting for their turns. It bounds the places of one waiter.
    package static let most = 16

    private let state: Mutex<State>

    package init(_ clients: [ClientKey] = [.anonymous]) { state = Mutex(State(all: Array(clients.prefix(Self.most)))) }

    package var all: [ClientKey] { state.withLock { $0.all } }

    /// The client that began the work.
    package var first: ClientKey { state.withLock { $0.all.first } ?? .anonymous }

    package func join(_ client: ClientKey) {
        let listeners = state.withLock { state -> [@Sendable (ClientKey) -> Void] in
            guard !state.all.contains(client) else { return [] }
            if state.all.count < Self.most {
                state.all.append(client)
            } else {
                state.all[1 + state.replaced % (Self.most - 1)] = client
                state.replaced += 1
            }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener(client) }
    }

    /// Names all clients to `listener`: those that are here at once, and others when they join, until `ignore` is called.
    /// - Returns: a number for `ignore`.
    package func listen(_ listener: @escaping @Sendable (ClientKey) -> Void) -> Int {
        let (number, clients) = state.withLock { state in
            state.listened += 1
            state.listeners[state.listened] = listener
            return (state.listened, state.all)
        }
        for client in clients { listener(client) }
        return number
    }

    package func ignore(_ number: Int) { state.withLock { $0.listeners[number] = nil } }
}
