import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// The handlers of a connection to an origin.
struct OriginHandlers: Sendable {
    let tls: NIOSSLContext?
    /// The name of the origin.
    let name: String
    let early = EarlyError()

    func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let (pipeline, ceiling) = (channel.pipeline.syncOperations, ResponseSizeLimit())
            if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: TLSClient.name(of: name))) }
            try pipeline.addHandler(ceiling)
            try pipeline.addHandler(OriginHeads())
            try pipeline.addHTTPClientHandlers(leftOverBytesStrategy: .dropBytes, enableOutboundHeaderValidation: true)
            try pipeline.addHandler(OriginExchange(counting: ceiling, noting: early))
        }
    }
}

/// The error that ended a connection before its first request, such as that of the handshake: the request, which comes a moment later, would
/// only find the connection closed.
final class EarlyError: Sendable {
    private let first = Mutex<(any Error)?>(nil)

    var value: (any Error)? { first.withLock { $0 } }

    func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }
}
