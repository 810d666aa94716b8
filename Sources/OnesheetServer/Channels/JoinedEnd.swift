import NIOCore
import NIOHPACK
import NIOHTTP2

/// Puts the end of a response of known length into its last frame, and ends one of unknown length with trailers that have no field.
///
/// NIO's flow control (swift-nio-http2 1.46) sends an empty frame of a body without looking at the window of the stream, and traps if a
/// client's settings have made that negative (RFC 9113 §6.9.2). So no such frame is written.
final class JoinedEnd: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private var isHead = false
    /// Bytes of the body that are still to be written. `nil` if the length is unknown.
    private var rest: Int?
    /// The last frame, which waits for the end.
    private var last: (payload: HTTP2Frame.FramePayload, promise: EventLoopPromise<Void>?)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers(let head) = unwrapInboundIn(data), head.headers.first(name: ":method") == "HEAD" { isHead = true }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let payload = unwrapOutboundIn(data)
        if case .data(let end) = payload, end.endStream, end.data.readableBytes == 0 {
            guard let last else {
                return context.write(wrapOutboundOut(.headers(.init(headers: [:], endStream: true))), promise: promise)
            }
            self.last = nil
            if let first = last.promise, let promise { first.futureResult.cascade(to: promise) }
            return context.write(wrapOutboundOut(last.payload.ending), promise: last.promise ?? promise)
        }
        if let last {
            self.last = nil
            context.write(wrapOutboundOut(last.payload), promise: last.promise)
        }
        switch payload {
        case .headers(let head) where !head.endStream: rest = isHead ? 0 : head.headers.bodyLength
        case .data(let data) where !data.endStream: rest = rest.map { $0 - data.data.readableBytes }
        default: return context.write(data, promise: promise)
        }
        if rest == 0 { last = (payload, promise) } else { context.write(data, promise: promise) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        last?.promise?.fail(ChannelError.ioOnClosedChannel)
        last = nil
        context.fireChannelInactive()
    }
}

extension HTTP2Frame.FramePayload {
    /// The same frame as the last of its stream.
    fileprivate var ending: Self {
        switch self {
        case .headers(var head):
            head.endStream = true
            return .headers(head)
        case .data(var data):
            data.endStream = true
            return .data(data)
        default: return self
        }
    }
}

extension HPACKHeaders {
    /// Bytes of a response's body. `nil` if the head does not say.
    fileprivate var bodyLength: Int? {
        guard let status = first(name: ":status"), !status.hasPrefix("1") else { return nil }
        return ["204", "304"].contains(status) ? 0 : first(name: "content-length").flatMap { Int($0) }
    }
}
