import NIOCore
import NIOHTTP1
import OnesheetCore

/// Sends requests to an origin, one at a time, and collects each response within its limits.
final class OriginExchange: ChannelDuplexHandler {
    /// A request and its waiter.
    struct Job: Sendable {
        let order: OriginOrder
        let promise: EventLoopPromise<OriginReply>
    }

    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Job
    typealias OutboundOut = HTTPClientRequestPart

    private struct Exchange {
        let job: Job
        let start = NIODeadline.now()
        /// When the last bytes of the body arrived.
        var latest = NIODeadline.now()
        var head: HTTPResponseHead?
        var headCame = NIODeadline.now()
        var body: BodyCollector?
        var ticks: RepeatedTask?

        mutating func receive(_ head: HTTPResponseHead) {
            var head = head
            if !head.headers.allSatisfy({ $0.value.isStreamSafe }) {
                head.headers = HTTPHeaders(head.headers.map { ($0.name, $0.value.streamSafe) })
            }
            self.head = head
            headCame = .now()
            latest = headCame
        }
    }

    private var exchange: Exchange?
    private let ceiling: ResponseSizeLimit

    private let early: EarlyError

    init(counting ceiling: ResponseSizeLimit, noting early: EarlyError) {
        self.ceiling = ceiling
        self.early = early
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let job = unwrapOutboundIn(data)
        precondition(exchange == nil, "a connection carries one request at a time")
        exchange = Exchange(job: job)
        ceiling.begin()
        context.write(wrapOutboundOut(.head(job.order.head)), promise: nil)
        if let body = job.order.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
        let bounds = job.order.bounds
        let tick = TimeAmount.milliseconds(max(5, min(250, min(bounds.head, bounds.silence).nanoseconds / 8_000_000)))
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        exchange?.ticks = context.eventLoop.scheduleRepeatedTask(initialDelay: tick, delay: tick) { _ in
            let (handler, context) = bound.value
            handler.look(context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let order = exchange?.job.order else {
            // A response without a request.
            context.close(promise: nil)
            return
        }
        do throws(BodyCollector.Refusal) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                exchange?.receive(head)
                let limit = order.limit(of: head.status)
                ceiling.expectBody(of: limit)
                order.onHead()
                let announced = head.headers.first(name: "content-length").flatMap { Int($0) }
                exchange?.body = try BodyCollector(announced: announced, limit: limit, memory: order.memory)
            case .body(let piece):
                exchange?.latest = .now()
                try exchange?.body?.add(piece)
            case .end: finish(context)
            }
        } catch {
            switch error {
            case .tooLarge: fail(.tooLarge(order.limit(of: exchange?.head?.status ?? .ok)), context)
            case .noMemory: fail(.noMemory, context)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if exchange == nil { early.note(error) }
        if let error = error as? ResponseSizeLimit.Exceeded {
            fail(.tooLarge(error.limit), context)
        } else {
            fail(.broken(ConnectionReason.text(error)), context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.broken("the connection was closed before the response was complete"), context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        fail(.broken("the connection was closed"), context)
    }

    /// The progress of the exchange.
    private var stage: ExchangeFailure.Stage {
        exchange?.head != nil ? .answered : ceiling.received > 0 ? .begun : .waiting
    }

    /// Ends an exchange that takes too long.
    private func look(_ context: ChannelHandlerContext) {
        guard let exchange else { return }
        let (now, order) = (NIODeadline.now(), exchange.job.order)
        if now >= order.deadline { return fail(.timedOut, context) }
        guard exchange.head != nil else {
            // Interim responses do not count.
            let waited = now - exchange.start
            if waited >= order.bounds.head || !order.mayStay(waited.seconds) { fail(.timedOut, context) }
            return
        }
        let elapsed = now - exchange.headCame
        let bytes = exchange.body?.bytes.readableBytes ?? 0
        let isSlow = elapsed >= order.bounds.grace && Double(bytes) < elapsed.seconds * Double(order.bounds.rate)
        let silence = now - exchange.latest
        if isSlow || silence >= order.bounds.silence || !order.mayStay(silence.seconds) { fail(.timedOut, context) }
    }

    private func finish(_ context: ChannelHandlerContext) {
        guard let exchange, let head = exchange.head, let body = exchange.body else { return }
        self.exchange = nil
        exchange.ticks?.cancel()
        let isLast = !head.isKeepAlive || !context.channel.isActive
        if isLast { context.close(promise: nil) }
        exchange.job.promise.succeed(
            OriginReply(
                status: Int(head.status.code), headers: head.headers, body: body.bytes, memory: body.memory, isLast: isLast))
    }

    private func fail(_ kind: ExchangeFailure.Kind, _ context: ChannelHandlerContext) {
        let (stage, promise, head) = (stage, exchange?.job.promise, exchange?.head)
        exchange?.ticks?.cancel()
        // Release its memory before the waiter continues.
        exchange?.job.order.memory?.shrink(to: 0)
        exchange = nil
        promise?.fail(ExchangeFailure(kind, stage, head: head))
        context.close(promise: nil)
    }
}

extension TimeAmount {
    var seconds: Double { Double(nanoseconds) / 1e9 }
}
