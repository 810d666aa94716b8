import HummingbirdCore
import Synchronization

/// Decides whether the server accepts another connection. Those beyond wait in the system's queue.
///
/// A connection that is refused has a descriptor until its event loop closes it. Such connections have room of their own: a flood of
/// them would otherwise fill what is left.
final class AcceptLimit: AvailableConnectionsDelegate {
    /// The most refused connections that are not closed yet.
    static let mostRefused = 256

    private let connections: Int
    /// The most that may be admitted.
    private let most: Int
    private let closeIdle: @Sendable (Int) -> Void
    private let open = Atomic(0)
    private let refused = Atomic(0)
    private let hasBegun = Atomic(false)

    /// - Parameters:
    ///   - connections: the most open connections, including those that are being refused.
    ///   - places: the most connections that there is memory for; `nil` if memory does not limit them.
    ///   - closeIdle: closes a number of idle connections. Called when less than a sixteenth of the connections is free.
    init(connections: Int, places: Int?, closeIdle: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.connections = connections
        most = min(connections, places ?? connections)
        self.closeIdle = closeIdle
    }

    /// Lets the server accept connections.
    func begin() { hasBegun.store(true, ordering: .relaxed) }

    func connectionOpened() { open.add(1, ordering: .relaxed) }

    func connectionClosed() { open.subtract(1, ordering: .relaxed) }

    /// Counts a connection that is being refused, and is not counted as open.
    func refusalBegan() { refused.add(1, ordering: .relaxed) }

    /// - Returns: whether refused connections had used up the room.
    func refusalEnded() -> Bool {
        let hadRoom = room > 0
        refused.subtract(1, ordering: .relaxed)
        return !hadRoom && room > 0
    }

    /// Asked before the server accepts and, while it waits for room, after each connection that closes. Also closes idle connections when
    /// little room is left; so it is asked from time to time too (`AcceptBatch`).
    func isAcceptingNewConnections() -> Bool {
        // A client whose connection is closed connects again, and its handshake costs more than a wait in the system's queue. So only a few
        // are closed at a time.
        if (most - open.load(ordering: .relaxed)) * 16 < most { closeIdle(max(1, most / 64)) }
        return room > 0 && hasBegun.load(ordering: .relaxed)
    }

    /// The number of connections that may be accepted now.
    var room: Int {
        let (open, refused) = (open.load(ordering: .relaxed), refused.load(ordering: .relaxed))
        return min(most - open, connections - open - refused, Self.mostRefused - refused)
    }
}
