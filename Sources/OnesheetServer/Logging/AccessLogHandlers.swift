import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import OnesheetCore
import OnesheetHTTP

/// The requests of a connection, or of an HTTP/2 stream, that are being answered, in order.
private struct RequestsInProgress {
    private let log: AccessLog
    private let peer: IPAddress?
    private var requests: CircularBuffer<(request: LoggedRequest, began: NIODeadline)> = []
    /// Whether the last request is incomplete.
    private var isReading = false

    init(_ log: AccessLog, peer: IPAddress?) {
        self.log = log
        self.peer = peer
    }

    mutating func begin(_ facts: RequestFacts) {
        requests.append((LoggedRequest(head: .parsed(facts), peer: peer), .now()))
        isReading = true
    }

    mutating func read() { isReading = false }

    /// Notes that the parser could not read on. The refusal is the response to the request that it had begun, if there is one.
    mutating func fail() {
        if !isReading { requests.append((LoggedRequest(head: .unreadable, peer: peer), .now())) }
    }

    /// - Parameter isInterim: whether the real response follows (RFC 9110 §15.2).
    mutating func respond(isInterim: Bool, _ note: (inout LoggedRequest) -> Void) {
        guard !isInterim, !requests.isEmpty else { return }
        note(&requests[requests.startIndex].request)
    }

    mutating func write(_ bytes: Int) {
        guard !requests.isEmpty else { return }
        requests[requests.startIndex].request.bytes += bytes
    }

    /// Logs the first request, whose response is complete.
    mutating func end() {
        guard let first = requests.popFirst() else { return }
        var request = first.request
        request.duration = .now() - first.began
        log.add(request)
    }

    /// Logs the rest after the connection was closed.
    mutating func close() { while !requests.isEmpty { end() } }
}

/// Logs the requests of an HTTP/1 connection that its parser reads. Sits directly behind the parser.
final class AccessLogHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var requests: RequestsInProgress

    init(_ log: AccessLog, peer: IPAddress?) { requests = RequestsInProgress(log, peer: peer) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): requests.begin(RequestFacts(head))
        case .body: break
        case .end: requests.read()
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError { requests.fail() }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): requests.respond(isInterim: head.status.code < 200) { $0.note(head) }
        case .body(let body): requests.write(body.readableBytes)
        case .end: requests.end()
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        requests.close()
        context.fireChannelInactive()
    }
}

/// Logs the request of an HTTP/2 stream that has a channel. Sits nearest to the connection.
final class AccessLogStreamHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let log: AccessLog
    private var requests: RequestsInProgress?

    init(_ log: AccessLog) { self.log = log }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            var begun = RequestsInProgress(log, peer: context.channel.parent?.remoteAddress?.address)
            begun.begin(RequestFacts(head))
            requests = begun
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): requests?.respond(isInterim: head.status.code < 200) { $0.note(head) }
        case .body(let body): requests?.write(body.readableBytes)
        case .end: requests?.end()
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        requests?.close()
        context.fireChannelInactive()
    }
}
