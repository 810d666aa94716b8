import NIOCore
import NIOPosix
import OnesheetCore

/// The event loops for connections of clients: NIO's shared ones, with a priority above other threads if the system allows it.
enum ClientLoops {
    static let group: any EventLoopGroup = {
        let group = MultiThreadedEventLoopGroup.singleton
        for loop in group.makeIterator() { loop.execute { ThreadPriority.clients.apply() } }
        return group
    }()
}
