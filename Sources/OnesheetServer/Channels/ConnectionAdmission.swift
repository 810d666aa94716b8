import NIOCore

/// Refuses accepted connections whose address has enough, or for which there is no memory.
///
/// It closes them before they are set up, so a flood costs little, and before Hummingbird's handler counts them in `AcceptLimit`.
/// `OpenConnections` registers its close callback first, so a place is free before the next connection is let in.
final class ConnectionAdmission: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = any Channel

    private let limit: AcceptLimit
    private let connections: OpenConnections
    private let spare: SpareDescriptor

    init(_ limit: AcceptLimit, _ connections: OpenConnections, _ spare: SpareDescriptor) {
        self.limit = limit
        self.connections = connections
        self.spare = spare
    }

    func handlerAdded(context: ChannelHandlerContext) { limit.begin() }

    /// Accepts the next connections although Hummingbird's tasks have not taken the previous ones: it asks for more only while fewer than
    /// ten wait for a task, but the event loop answers hits without one. `AcceptLimit` limits those that wait. Without a descriptor, NIO asks
    /// after a pause.
    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if limit.room > 0, spare.isKept { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        guard !connections.admit(channel) else { return context.fireChannelRead(data) }
        limit.refusalBegan()
        channel.close(promise: nil)
        let here = NIOLoopBound((limit, context), eventLoop: context.eventLoop)
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (limit, context) = here.value
            // Nothing else reads again if refused connections have used up the room.
            if limit.refusalEnded() { context.channel.read() }
        }
    }
}
