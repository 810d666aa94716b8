import NIOCore
import NIOHTTP1

/// Sends an `OriginAnswer` on a connection.
final class OriginHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (String, [String: String]) -> OriginAnswer
    private let counts: CallCounts
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    /// The repeated piece of an endless body.
    private var piece: ByteBuffer?
    /// The repeated bytes of an endless raw answer.
    private var rawPiece: ByteBuffer?
    private var drip: RepeatedTask?

    init(answer: @escaping @Sendable (String, [String: String]) -> OriginAnswer, counts: CallCounts) {
        self.answer = answer
        self.counts = counts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, ByteBuffer())
        case .body(var piece): body.writeBuffer(&piece)
        case .end:
            guard let head else { return }
            counts.add(head.uri)
            var fields: [String: String] = [:]
            for (name, value) in head.headers { fields[name.lowercased()] = value }
            if head.method == .POST { fields[":body"] = String(buffer: body) }
            play(answer(head.uri, fields), to: head, in: context)
        }
    }

    private func play(_ answer: OriginAnswer, to head: HTTPRequestHead, in context: ChannelHandlerContext) {
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
        case .raw(let bytes):
            let written = context.eventLoop.makePromise(of: Void.self)
            let channel = context.channel
            written.futureResult.whenComplete { _ in channel.close(promise: nil) }
            writeRaw(bytes, context, promise: written)
        case .rawThenSilence(let bytes): writeRaw(bytes, context)
        case .rawWithoutEnd(let first, let then):
            writeRaw(first, context)
            rawPiece = then
            pour(context)
        case .drip(let first, let then):
            writeRaw(first, context)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            drip = context.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(50), delay: .milliseconds(50)) { _ in
                let (handler, context) = bound.value
                handler.writeRaw(then, context)
            }
        case .held(let gate, let answer):
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.makeFutureWithTask { try await gate.pass() }.whenSuccess {
                let (handler, context) = bound.value
                handler.play(answer, to: head, in: context)
            }
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        pour(context)
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        drip?.cancel()
        rawPiece = nil
        context.fireChannelInactive()
    }

    /// Bypasses the encoder and writes to the socket.
    private func writeRaw(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, promise: EventLoopPromise<Void>? = nil) {
        do {
            try context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
                .writeAndFlush(NIOAny(bytes), promise: promise)
        } catch {
            promise?.fail(error)
        }
    }

    private func pour(_ context: ChannelHandlerContext) {
        while let rawPiece, context.channel.isActive, context.channel.isWritable { writeRaw(rawPiece, context) }
        guard let piece else { return }
        while context.channel.isActive, context.channel.isWritable {
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(piece))), promise: nil)
        }
    }

    private func write(_ part: HTTPServerResponsePart, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(part), promise: nil)
    }
}
