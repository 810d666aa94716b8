import NIOCore
import NIOHTTP2

/// Tells NIO's handler of idle and old connections of the end of each stream once, and only if it knows of the beginning. That handler takes
/// anything else for a mistake of the program.
final class OpenStreams: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    private var open: Set<HTTP2StreamID> = []

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let created as NIOHTTP2StreamCreatedEvent: open.insert(created.streamID)
        case let closed as StreamClosedEvent: if open.remove(closed.streamID) == nil { return }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }
}
