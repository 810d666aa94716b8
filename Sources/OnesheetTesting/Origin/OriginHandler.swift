import NIOCore
import NIOHTTP1

/// Plays an `OriginAnswer` on a connection.
final class OriginHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (String, [String: String]) -> OriginAnswer
    private let counts: CallCounts
    private var head: HTTPRequestHead?
    /// The piece that an endless body repeats.
    private var piece: ByteBuffer?

    init(answer: @escaping @Sendable (String, [String: String]) -> OriginAnswer, counts: CallCounts) {
        self.answer = answer
        self.counts = counts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end:
            guard let head else { return }
            counts.add(head.uri)
            var fields: [String: String] = [:]
            for (name, value) in head.headers { fields[name.lowercased()] = value }
            play(answer(head.uri, fields), head, context)
        }
    }

    private func play(_ answer: OriginAnswer, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch answer {
        case .answer(let status, let type, let fields, let body):
            var headers = HTTPHeaders([("Content-Type", type), ("Content-Length", "\(body.readableBytes)")])
            for (name, value) in fields { headers.replaceOrAdd(name: name, value: value) }
            write(.head(.init(version: head.version, status: .init(statusCode: status), headers: headers)), context)
            write(.body(.byteBuffer(body)), context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .silence: break
        case .endless(let type, let bytes):
            write(.head(.init(version: head.version, status: .ok, headers: ["Content-Type": type])), context)
            piece = ByteBuffer(repeating: 0x20, count: bytes)
            pour(context)
        case .brokenOff(let type, let body, let missing):
            let headers: HTTPHeaders = ["Content-Type": type, "Content-Length": "\(body.readableBytes + missing)"]
            write(.head(.init(version: head.version, status: .ok, headers: headers)), context)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.close(promise: nil)
        case .hangUp: context.close(promise: nil)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        pour(context)
        context.fireChannelWritabilityChanged()
    }

    private func pour(_ context: ChannelHandlerContext) {
        guard let piece else { return }
        while context.channel.isWritable { context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil) }
    }

    private func write(_ part: HTTPServerResponsePart, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(part), promise: nil)
    }
}
