import NIOCore

/// Lets a connection that the server closes end with the client's goodbye (RFC 8446 §6.1), between the encryption and the handlers that close
/// a connection.
///
/// Where clients may close their half first, NIO's TLS handler (swift-nio-ssl 2.37) does not take a client's goodbye as the answer to its own,
/// and waits five seconds more, with the place and the memory of the connection.
final class PromptEnd: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// The handler on the other side of the encryption.
    private let socket: EncryptedBytes
    private var isClosing = false

    init(_ socket: EncryptedBytes) { self.socket = socket }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all {
            isClosing = true
            socket.begunClosing()
        }
        context.close(mode: mode, promise: promise)
    }

    /// A client that closes its side without a goodbye gets none either.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        // A client that still reads has not got everything. The TLS handler closes that connection in the end.
        guard isClosing, let event = event as? ChannelEvent, event == .inputClosed, context.channel.bufferedBytes == 0 else {
            return
        }
        socket.close()
    }

    /// Makes the TLS handler of `channel` take the client's goodbye as the end.
    static func takeGoodbye(of channel: any Channel) {
        do {
            try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: false)
        } catch {
            // The channel is closed, and needs no goodbye.
        }
    }
}
