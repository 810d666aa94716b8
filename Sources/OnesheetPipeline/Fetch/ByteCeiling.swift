import NIOCore

/// Ends a connection on which an answer takes more bytes than any may, its head and its framing included: what a parser collects
/// before it hands anything on nobody else counts.
final class ByteCeiling: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Exceeded: Error, CustomStringConvertible {
        let limit: Int
        var description: String { "the answer takes more than \(limit) bytes on the wire" }
    }

    private let limit: Int
    private var received = 0

    init(limit: Int) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
        guard received <= limit else {
            context.fireErrorCaught(Exceeded(limit: limit))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }

    /// A new request: its answer is counted from here.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        received = 0
        context.write(data, promise: promise)
    }
}
