import NIOCore

/// Closes the socket as soon as both sides have said goodbye, between the encryption and the handlers that close a connection.
///
/// Where clients may close their half first, NIO's TLS handler (swift-nio-ssl 2.37) does not take a client's goodbye (RFC 8446 §6.1) as the
/// answer to its own, and waits five seconds more. A connection holds its place and its memory for that time.
final class PromptEnd: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// The handler on the other side of the encryption.
    private let socket: EncryptedBytes
    private var isClosing = false

    init(_ socket: EncryptedBytes) { self.socket = socket }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all { isClosing = true }
        context.close(mode: mode, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        // A client that still reads has not got everything. The TLS handler closes that connection in the end.
        guard isClosing, let event = event as? ChannelEvent, event == .inputClosed, context.channel.bufferedBytes == 0 else {
            return
        }
        socket.close()
    }
}
