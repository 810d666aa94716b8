import NIOCore

/// Closes the connection once a response, including head and framing, exceeds the limit. Counts raw bytes, because the decoder buffers
/// without a limit of its own and drops some of them, such as interim responses (RFC 9110 §15.2).
final class ResponseSizeLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    struct Exceeded: Error {
        let limit: Int
    }

    /// Bytes of a head and everything before it.
    static let head = 256 << 10
    /// Bytes of framing and trailers beyond the body.
    private static let framing = 1 << 20

    /// Bytes of the response so far.
    private(set) var received = 0
    private var limit = ResponseSizeLimit.head

    /// Starts counting the response to a new request.
    func begin() { (received, limit) = (0, Self.head) }

    /// The head has arrived, and a body of up to `limit` bytes may follow.
    func expectBody(of limit: Int) { self.limit = Self.head + Self.framing + limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytes
        // One read may contain the head and the beginning of the body.
        guard received <= limit + Self.head else {
            context.fireErrorCaught(Exceeded(limit: limit))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }
}
