import HummingbirdCore
import Synchronization

/// Decides whether the server accepts another connection. Those beyond wait in the system's queue.
///
/// A connection with TLS that is refused for the share of its address is open for a moment too. Such connections have room of their own:
/// otherwise a flood of them, from a few addresses, would fill what is left, and the queue would move only as fast as they are closed.
final class AcceptLimit: AvailableConnectionsDelegate {
    /// The connections with TLS that may be open without a place, because they are being refused.
    static let mostRefused = 256

    /// The most open connections while some are being refused.
    let limitWhileRefusing: Int
    /// The most open connections while none is being refused. Each of them has a place or may still get one.
    private let limit: Int
    private let places: MemoryShare?
    private let closeIdle: @Sendable (Int) -> Void
    private let open = Atomic(0)

    /// - Parameters:
    ///   - connections: the most open connections.
    ///   - places: the places of connections with TLS; `nil` without TLS.
    ///   - closeIdle: closes a number of idle connections. Called when less than a sixteenth of the connections is free.
    init(connections: Int, places: MemoryShare?, closeIdle: @escaping @Sendable (Int) -> Void = { _ in }) {
        limitWhileRefusing = places.map { min(connections, $0.places + Self.mostRefused) } ?? connections
        limit = places.map { min(connections, $0.places) } ?? connections
        self.places = places
        self.closeIdle = closeIdle
    }

    func connectionOpened() { open.add(1, ordering: .relaxed) }

    func connectionClosed() { open.subtract(1, ordering: .relaxed) }

    /// Asked before the server accepts and, while it waits for room, after each connection that closes. Also closes idle connections when
    /// little room is left; so it is asked from time to time too (`AcceptBatch`).
    func isAcceptingNewConnections() -> Bool {
        let room = room
        // A client whose connection is closed connects again, and its handshake costs more than a wait in the system's queue. So only a few
        // are closed at a time.
        if room * 16 < limit { closeIdle(max(1, limit / 64)) }
        return room > 0
    }

    /// The number of connections that may be accepted now. A connection gets its place, or is refused, a moment after it is accepted, so
    /// it counts at once. One that is being refused needs no place.
    var room: Int {
        min(limit + (places?.refusedStillOpen ?? 0), limitWhileRefusing) - open.load(ordering: .relaxed)
    }
}
