import NIOCore
import NIOPosix

/// A connection for arbitrary bytes.
struct RawConnection {
    /// Sends each of `parts` in its own packet, closes its sending half unless told otherwise, and reads until the server closes.
    /// - Parameter url: the URL of the server, `http://host:port`.
    static func exchange(_ parts: [[UInt8]], with url: String, ends: Bool = true) async throws -> [UInt8] {
        let address = url.dropFirst("http://".count).split(separator: ":")
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: String(address[0]), port: Int(address[1]) ?? 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            do {
                for part in parts { try await outbound.write(ByteBuffer(bytes: part)) }
                if ends { outbound.finish() }
            } catch {
                // The server has closed the connection early; its response counts.
            }
            var answer: [UInt8] = []
            do {
                for try await bytes in inbound { answer += bytes.readableBytesView }
            } catch {
                // The response on a reset connection is complete.
            }
            return answer
        }
    }
}
