package import NIOCore
import NIOPosix
import OnesheetCore

/// The event loops for connections to origins, apart from those for clients: a client never waits while the body of an original is
/// decrypted and copied.
package enum OriginLoops {
    /// One for two processors, and at least one. They run until the process ends, as NIO's own shared loops do.
    package static let group: any EventLoopGroup = {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount / 2))
        for loop in group.makeIterator() { loop.execute { ThreadPriority.requests.apply() } }
        return group
    }()
}
