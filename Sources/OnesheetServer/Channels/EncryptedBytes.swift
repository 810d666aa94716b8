import NIOCore

/// Accounts for encrypted data that the client has not taken yet, between the socket and the encryption. A body that clients share is
/// encrypted for each of them, so the memory of the body alone says little.
///
/// The encryption writes into one buffer, whose capacity never shrinks, and takes another one while data wait. So small data are copied
/// out of large buffers.
final class EncryptedBytes: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let memory: ResponseMemory
    private var receiver: BodyReceiver?
    private var context: ChannelHandlerContext?
    /// Whether the server has begun to close the connection.
    private var isClosing = false

    init(_ memory: ResponseMemory) { self.memory = memory }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        receiver = BodyReceiver(context.channel, memory)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Notes that the server has begun to close the connection.
    func begunClosing() { isClosing = true }

    /// Closes the socket, without a goodbye of the encryption.
    func close() { context?.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isClosing, context.channel.bufferedBytes == 0 { PromptEnd.takeGoodbye(of: context.channel) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        if bytes.readableBytes < bytes.storageCapacity / 2 { bytes = context.channel.allocator.buffer(buffer: bytes) }
        let delivery = promise ?? context.eventLoop.makePromise()
        if let receiver {
            let hold = memory.hold(bytes)
            receiver.wrote(bytes)
            delivery.futureResult.whenComplete { _ in withExtendedLifetime(hold) { receiver.finished() } }
            // A write cannot be refused. If there is no room, clients that make no progress are disconnected, those of the addresses with the
            // most first.
            memory.makeRoom()
        }
        context.write(wrapOutboundOut(bytes), promise: delivery)
    }
}
