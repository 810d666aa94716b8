import NIOCore

/// Pairs the replies of one connection with the commands, in their order. Used on its event loop only.
final class ReplyHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Commands that were sent together.
    private struct Request {
        let count: Int
        var replies: [RESPValue] = []
        /// `nil` if its caller has left. The replies still have to be taken off the connection.
        var promise: EventLoopPromise<[RESPValue]>?
        let timer: Scheduled<Void>?
    }

    /// The most requests that wait for replies. Further ones are refused.
    private static let capacity = 4096

    private var requests = CircularBuffer<Request>()
    /// The number of the first request of `requests`.
    private var first = 0
    private var parser = RESPParser()
    private var context: ChannelHandlerContext?
    private var failure: LinkFailure?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Sends `count` commands, whose bytes are `bytes`.
    /// - Parameter limit: the time for all replies. A late reply is read and dropped.
    /// - Returns: the replies; fails with a `LinkFailure` only.
    func send(_ bytes: ByteBuffer, count: Int, within limit: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<[RESPValue]> {
        if let failure { return loop.makeFailedFuture(failure) }
        guard let context, context.channel.isActive else { return loop.makeFailedFuture(LinkFailure.closed) }
        guard requests.count < Self.capacity else {
            return loop.makeFailedFuture(LinkFailure.unreachable("\(Self.capacity) requests wait for the engine already"))
        }
        let promise = loop.makePromise(of: [RESPValue].self)
        let number = first + requests.count
        let handler = NIOLoopBound(self, eventLoop: loop)
        let timer = loop.scheduleTask(in: limit) { handler.value.giveUp(number) }
        requests.append(Request(count: count, promise: promise, timer: timer))
        context.writeAndFlush(NIOAny(bytes), promise: nil)
        return promise.futureResult
    }

    private func giveUp(_ number: Int) {
        let index = number - first
        guard index >= 0, index < requests.count else { return }
        let place = requests.index(requests.startIndex, offsetBy: index)
        let promise = requests[place].promise
        requests[place].promise = nil
        promise?.fail(LinkFailure.timedOut)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard failure == nil else { return }
        parser.append(unwrapInboundIn(data))
        do throws(RESPError) {
            while let reply = try parser.next() { receive(reply, context) }
        } catch {
            fail(.garbage(error.reason), context)
        }
    }

    private func receive(_ reply: RESPValue, _ context: ChannelHandlerContext) {
        guard var request = requests.popFirst() else {
            return fail(.unreachable(reply.error ?? "the engine sent a reply that nobody asked for"), context)
        }
        request.replies.append(reply)
        guard request.replies.count == request.count else { return requests.prepend(request) }
        first += 1
        request.timer?.cancel()
        request.promise?.succeed(request.replies)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(.unreachable("\(error)"), context) }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed, context)
        context.fireChannelInactive()
    }

    private func fail(_ failure: LinkFailure, _ context: ChannelHandlerContext) {
        guard self.failure == nil else { return }
        self.failure = failure
        while let request = requests.popFirst() {
            request.timer?.cancel()
            request.promise?.fail(failure)
        }
        context.close(promise: nil)
    }
}

/// The reason for which a connection gave no replies.
enum LinkFailure: Error, Equatable {
    case timedOut
    case unreachable(String)
    /// The engine does not speak RESP2.
    case garbage(String)
    /// The engine refuses the connection: an error of `AUTH` or `PING`.
    case refused(String)
    case cancelled

    static let closed = LinkFailure.unreachable("the engine closed the connection")

    /// The failure with another text.
    func map(_ change: (String) -> String) -> LinkFailure {
        switch self {
        case .timedOut, .cancelled: self
        case .unreachable(let reason): .unreachable(change(reason))
        case .garbage(let reason): .garbage(change(reason))
        case .refused(let error): .refused(change(error))
        }
    }
}
