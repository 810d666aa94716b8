import NIOCore
import NIOPosix
import NIOSSL

/// A connection that a test keeps open to send several requests.
struct OpenConnection {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

    /// Connects to `url` during `body`, optionally with TLS.
    /// - Parameter room: the size of the receive buffer; the system's default can be many megabytes.
    static func with(
        _ url: String, _ tls: NIOSSLContext? = nil, room: Int? = nil, during body: (inout OpenConnection) async throws -> Void
    ) async throws {
        let address = url.split(separator: "/")[1].split(separator: ":")
        var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        if let room { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(room)) }
        let channel =
            try await bootstrap
            .connect(host: String(address[0]), port: Int(address[1]) ?? 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var connection = OpenConnection(inbound: inbound.makeAsyncIterator(), outbound: outbound)
            try await body(&connection)
        }
    }

    func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

    func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    /// The next bytes; `nil` after the server has closed the connection.
    mutating func next() async throws -> ByteBuffer? { try await inbound.next() }

    /// The bytes up to and including `end`, or up to the end of the connection.
    mutating func read(until end: String) async throws -> String {
        var text = ""
        while !text.contains(end), let bytes = try await inbound.next() { text += String(buffer: bytes) }
        return text
    }

    /// Requests `path` and reads the whole response.
    mutating func get(_ path: String, _ fields: String...) async throws -> (head: String, body: ByteBuffer) {
        try await send("GET \(path) HTTP/1.1\r\nHost: test\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        var answer = ByteBuffer()
        while let bytes = try await inbound.next() {
            answer.writeImmutableBuffer(bytes)
            guard let end = answer.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: answer.readableBytesView[..<end.upperBound], as: UTF8.self)
            let length = head.firstMatch(of: /(?i)\r\nContent-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
            let body = answer.readableBytesView[end.upperBound...]
            if body.count >= length { return (head, ByteBuffer(body)) }
        }
        throw ConnectionEnded()
    }

    struct ConnectionEnded: Error {}

    /// The bytes up to the end of the connection.
    mutating func readToEnd() async -> String {
        var text = ""
        do {
            while let bytes = try await inbound.next() { text += String(buffer: bytes) }
        } catch {
            // A reset connection has ended too.
        }
        return text
    }
}
