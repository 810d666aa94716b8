import FoundationEssentials
import NIOCore
import NIOFoundationEssentialsCompat
import NIOHTTP1
import NIOPosix
import NIOSSL
import OnesheetCore

/// The URL of a collector.
package struct CollectorURL: Sendable, Equatable, CustomStringConvertible {
    package let description: String
    fileprivate let url: WebURL

    /// - Returns: `nil` if `text` is not an `http` or `https` URL.
    package init?(_ text: String) {
        guard let url = WebURL(text), url.path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            (url.query ?? "").utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        description = text
        self.url = url
    }
}

/// Sends documents to a collector, each on a connection of its own: one in seconds needs no pool.
struct CollectorConnection: Sendable {
    /// The time for a response, and for the connection before it.
    private static let timeout = TimeAmount.seconds(10)
    private static let connectTimeout = TimeAmount.seconds(2)

    private let url: WebURL
    private let group: any EventLoopGroup
    /// Made once, because it reads the system's certificates; `nil` without TLS.
    private let security: Result<NIOSSLContext, any Error>?

    struct Refused: Error {
        let status: Int
    }

    init(_ url: CollectorURL, group: any EventLoopGroup) {
        self.url = url.url
        self.group = group
        security = url.url.scheme == "https" ? Result { try NIOSSLContext(configuration: .makeClientConfiguration()) } : nil
    }

    /// Posts a JSON document.
    /// - Throws: `Refused` unless the collector takes it, and errors of the connection.
    func post(_ document: Data) async throws {
        let security = try security?.get()
        let host = url.host
        let answered = group.any().makePromise(of: Int.self)
        let connecting = ClientBootstrap(group: answered.futureResult.eventLoop).connectTimeout(Self.connectTimeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let security {
                        // An address has no server name (RFC 6066 §3).
                        let name = IPAddress(host) == nil ? host : nil
                        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: security, serverHostname: name))
                    }
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(StatusHandler(answered))
                }
            }
        let channel: any Channel
        do {
            channel = try await connecting.connect(host: host, port: url.port).get()
        } catch {
            answered.fail(error)
            throw error
        }
        let expiry = channel.eventLoop.scheduleTask(in: Self.timeout) { channel.close(promise: nil) }
        defer {
            expiry.cancel()
            channel.close(promise: nil)
        }
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: url.path + (url.query.map { "?\($0)" } ?? ""),
            headers: [
                "Host": authority, "User-Agent": "onesheet", "Content-Type": "application/json",
                "Content-Length": "\(document.count)", "Connection": "close",
            ])
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(data: document))), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        let status = try await withTaskCancellationHandler {
            try await answered.futureResult.get()
        } onCancel: {
            channel.close(promise: nil)
        }
        guard (200..<300).contains(status) else { throw Refused(status: status) }
    }

    private var authority: String { "\(url.host.contains(":") ? "[\(url.host)]" : url.host):\(url.port)" }
}

/// Reads the status of the response. Its body does not matter.
private final class StatusHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let status: EventLoopPromise<Int>

    init(_ status: EventLoopPromise<Int>) { self.status = status }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { status.succeed(Int(head.status.code)) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        status.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // Has no effect after a response.
        status.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
