import NIOCore
import Synchronization

/// What the fast path has found about requests that the router has not begun yet: one for each connection, or stream of HTTP/2.
final class RoutedRequests: Sendable {
    private let byChannel = Mutex<[ObjectIdentifier: RoutedRequest]>([:])

    /// Hands over what was found about the next request on `channel`, until that request takes it.
    func handOver(_ routed: RoutedRequest, on channel: any Channel) {
        guard channel.isActive else { return }
        byChannel.withLock { $0[ObjectIdentifier(channel)] = routed }
    }

    /// Takes what was handed over on `channel`; also to be asked when `channel` ends, as its request may never reach the router.
    @discardableResult
    func take(on channel: any Channel) -> RoutedRequest? {
        byChannel.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }
}
