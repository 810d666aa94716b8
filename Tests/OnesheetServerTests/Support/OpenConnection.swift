import NIOCore
import NIOPosix

/// A connection that a test keeps open, to say one thing after another.
struct OpenConnection {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

    /// Connects to `url` for as long as `body` takes.
    static func with(_ url: String, _ body: (inout OpenConnection) async throws -> Void) async throws {
        let address = url.split(separator: "/")[1].split(separator: ":")
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: String(address[0]), port: Int(address[1]) ?? 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var connection = OpenConnection(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            try await body(&connection)
        }
    }

    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    /// What comes until `end` has come, or until the server closes.
    mutating func read(until end: String) async throws -> String {
        var text = ""
        while !text.contains(end), let bytes = try await inbound.next() { text += String(buffer: bytes) }
        return text
    }

    /// What comes until the server closes.
    mutating func readToEnd() async -> String {
        var text = ""
        do {
            while let bytes = try await inbound.next() { text += String(buffer: bytes) }
        } catch {
            // A connection that was reset has ended, too.
        }
        return text
    }
}
