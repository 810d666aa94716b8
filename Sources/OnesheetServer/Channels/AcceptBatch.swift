import NIOCore

/// Accepts several connections in one turn of the event loop, but never more than the limit allows, and one while no descriptor is left.
///
/// A turn is long while many connections are busy. With one connection for each turn, new ones would wait in the system's queue behind
/// those of a flood. Sits nearer to the socket than Hummingbird's `AvailableConnectionsChannelHandler`, which asks the limit, and sees
/// only reads that the limit allows.
final class AcceptBatch: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = Never

    /// The most connections of one turn. While the server sets them up, the other connections of the event loop wait.
    static let longest = 16

    private let limit: AcceptLimit
    private let spare: SpareDescriptor
    /// The number that the channel is set to.
    private var length = 0
    private var asking: RepeatedTask?

    init(_ limit: AcceptLimit, _ spare: SpareDescriptor) {
        self.limit = limit
        self.spare = spare
    }

    func handlerAdded(context: ChannelHandlerContext) {
        setLength(context)
        // Without room, nothing reads, and perhaps nothing closes either until the limit is asked again and closes idle connections.
        let pause = OpenConnections.pauseBetweenSearches
        asking = context.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [limit] _ in
            _ = limit.isAcceptingNewConnections()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { asking?.cancel() }

    func read(context: ChannelHandlerContext) {
        setLength(context)
        context.read()
    }

    private func setLength(_ context: ChannelHandlerContext) {
        let next = spare.isKept ? max(1, min(limit.room, Self.longest)) : 1
        guard next != length else { return }
        do {
            try context.channel.syncOptions?.setOption(.maxMessagesPerRead, value: UInt(next))
            length = next
        } catch {
            context.fireErrorCaught(error)
        }
    }
}
