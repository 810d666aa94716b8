import HummingbirdCore

/// Decides whether the server accepts another connection. Those beyond wait in the system's queue.
///
/// A connection with TLS that is refused for the share of its address is open for a moment too. Such connections have room of their own:
/// otherwise a flood of them, from a few addresses, would fill what is left, and the queue would move only as fast as they are closed.
struct AcceptLimit: AvailableConnectionsDelegate {
    /// The connections with TLS that may be open without a place, because they are being refused.
    static let refused = 256

    /// The most open connections while some are being refused.
    let limitWhileRefusing: Int
    /// The most open connections while none is being refused. Each of them has a place or may still get one.
    private let limit: Int
    private let places: MemoryShare?
    private var open = 0

    /// - Parameters:
    ///   - connections: the most open connections.
    ///   - places: the places of connections with TLS; `nil` without TLS.
    init(connections: Int, places: MemoryShare?) {
        limitWhileRefusing = places.map { min(connections, $0.places + Self.refused) } ?? connections
        limit = places.map { min(connections, $0.places) } ?? connections
        self.places = places
    }

    mutating func connectionOpened() { open += 1 }

    mutating func connectionClosed() { open -= 1 }

    /// Asked before each connection, and after each that closes. A connection gets its place, or is refused, a moment after it is accepted,
    /// so it counts at once.
    func isAcceptingNewConnections() -> Bool {
        guard open >= limit, let places else { return open < limit }
        return open < limitWhileRefusing && places.isRefusing && !places.isFull
    }
}
