import NIOCore

/// Passes what an HTTP/2 client has sent on in pieces of 2 KiB, one in each turn of its connection (`ConnectionTurns`).
///
/// A read has up to 16 KiB, which may be sixteen hundred frames of one byte. NIO's handler takes them all at once, for tens of milliseconds,
/// and the other connections of the event loop would wait. Most reads are one piece.
final class ReadTurns: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let pieceLength = 2 << 10
    /// The most bytes that may wait. When a client closes its side, NIO reads all that is left, even if no handler asks for it.
    private static let mostWaiting = 128 << 10

    private let turns: ConnectionTurns
    /// What waits for the next turns; `nil` if nothing does.
    private var waiting: ByteBuffer?
    private var wantsRead = false

    init(_ turns: ConnectionTurns) { self.turns = turns }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        guard var waiting else { return pass(bytes, context) }
        waiting.writeBuffer(&bytes)
        self.waiting = waiting
        if waiting.readableBytes > Self.mostWaiting { context.close(promise: nil) }
    }

    func read(context: ChannelHandlerContext) {
        if waiting == nil { context.read() } else { wantsRead = true }
    }

    func handlerRemoved(context: ChannelHandlerContext) { waiting = nil }

    private func pass(_ received: ByteBuffer, _ context: ChannelHandlerContext) {
        var bytes = received
        guard let piece = bytes.readSlice(length: min(Self.pieceLength, bytes.readableBytes)) else { return }
        if bytes.readableBytes > 0 {
            waiting = bytes
            let here = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            turns.wait {
                let (handler, context) = here.value
                return handler.takeTurn(context)
            }
        }
        context.fireChannelRead(wrapInboundOut(piece))
    }

    /// - Returns: whether the connection is still there.
    private func takeTurn(_ context: ChannelHandlerContext) -> Bool {
        guard let bytes = waiting, context.channel.isActive else { return false }
        waiting = nil
        pass(bytes, context)
        context.fireChannelReadComplete()
        if waiting == nil, wantsRead {
            wantsRead = false
            context.read()
        }
        return true
    }
}
