import NIOCore

/// Flushes after every 32 KiB, between the encryption and the handlers that write responses.
///
/// The encryption turns everything that waits for a flush into one buffer, and keeps one of that capacity. A client that pipelines
/// requests could make that megabytes. The channel also becomes unwritable only with a flush.
final class SmallFlushes: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    /// In bytes.
    static let limit = 32 << 10
    /// Bytes since the last flush.
    private var written = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
        if written >= Self.limit { flush(context: context) }
    }

    func flush(context: ChannelHandlerContext) {
        written = 0
        context.flush()
    }
}
