import NIOCore
import Synchronization

/// Hands parsed requests from the fast path to the router: at most one per connection, or per HTTP/2 stream.
final class RoutedRequests: Sendable {
    private let byChannel = Mutex<[ObjectIdentifier: RoutedRequest]>([:])

    /// Stores the parsed form of the next request on `channel`.
    func handOver(_ routed: RoutedRequest, on channel: any Channel) {
        guard channel.isActive else { return }
        byChannel.withLock { $0[ObjectIdentifier(channel)] = routed }
    }

    /// Takes the parsed request of `channel`. Also called when `channel` closes, because a request may never reach the router.
    @discardableResult
    func take(on channel: any Channel) -> RoutedRequest? {
        byChannel.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
    }
}
