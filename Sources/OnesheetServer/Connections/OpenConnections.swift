import NIOCore
import Synchronization

/// The connections that are open: to count them and, in the end, to close them.
final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    var count: Int { channels.withLock { $0.count } }

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { [self] _ in channels.withLock { _ = $0.removeValue(forKey: id) } }
    }

    /// Closes them all, whatever is still on its way.
    func close() {
        for channel in channels.withLock({ Array($0.values) }) { channel.close(promise: nil) }
    }
}
