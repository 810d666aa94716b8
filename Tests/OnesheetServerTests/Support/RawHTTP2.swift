import NIOCore
import NIOSSL

/// An HTTP/2 client (RFC 9113) that can break the rules. It builds frames itself.
struct RawHTTP2 {
    struct Frame {
        let type: UInt8
        let flags: UInt8
        let stream: Int
        let payload: [UInt8]

        /// Whether it is the head of a response with status 200 (HPACK's static entry 8, RFC 7541 appendix A).
        var isOK: Bool { type == 1 && payload.first == 0x88 }
    }

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    private var connection: OpenConnection
    private var unread: [UInt8] = []

    /// Connects with an initial window of `window` bytes for each stream.
    static func with(
        _ url: String, _ certificate: SelfSigned, window: Int = 65_535, during body: (inout RawHTTP2) async throws -> Void
    ) async throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(certificate.certificate))
        configuration.applicationProtocols = ["h2"]
        try await OpenConnection.with(url, try NIOSSLContext(configuration: configuration)) { connection in
            var client = RawHTTP2(connection: connection)
            let initialWindow: [UInt8] = [0, 4] + number(window, 4)
            try await client.send(
                Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(Kind.settings, flags: 0, stream: 0, payload: initialWindow))
            try await body(&client)
        }
    }

    private init(connection: OpenConnection) { self.connection = connection }

    func send(_ bytes: [UInt8]) async throws { try await connection.send(bytes) }

    /// Requests `path` on `stream`, and ends the stream unless told otherwise.
    func get(_ path: String, on stream: Int, ends: Bool = true, _ window: Int = 0) async throws {
        try await send(Self.headers(path, on: stream, ends: ends))
    }

    /// Requests `path` on `stream`, and reads the body of the response.
    mutating func body(of path: String, on stream: Int) async throws -> [UInt8] {
        try await get(path, on: stream)
        var body: [UInt8] = []
        while let frame = await next(where: { $0.type == Kind.data && $0.stream == stream }) {
            body += frame.payload
            if frame.flags & 1 == 1 { break }
            // The windows are restored; otherwise they would be exhausted.
            for window in [0, stream] where !frame.payload.isEmpty {
                try await send(
                    Self.frame(Kind.windowUpdate, flags: 0, stream: window, payload: Self.number(frame.payload.count, 4)))
            }
        }
        return body
    }

    /// The next frame; `nil` after the server has closed the connection.
    mutating func next() async -> Frame? {
        do {
            while true {
                if unread.count >= 9 {
                    let length = Int(unread[0]) << 16 | Int(unread[1]) << 8 | Int(unread[2])
                    if unread.count >= 9 + length {
                        let stream = unread[5..<9].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
                        let frame = Frame(
                            type: unread[3], flags: unread[4], stream: stream, payload: Array(unread[9..<9 + length]))
                        unread.removeFirst(9 + length)
                        return frame
                    }
                }
                guard let bytes = try await connection.next() else { return nil }
                unread += bytes.readableBytesView
            }
        } catch {
            // A reset connection has ended too.
            return nil
        }
    }

    /// The next frame that matches `isWanted`; skips others.
    mutating func next(where isWanted: (Frame) -> Bool) async -> Frame? {
        while let frame = await next() {
            if isWanted(frame) { return frame }
        }
        return nil
    }

    static func headers(
        _ path: String, on stream: Int, ends: Bool = true, more: [UInt8] = [], isWhole: Bool = true, method: String = "GET"
    ) -> [UInt8] {
        // GET, POST and https are entries of HPACK's static table; path and authority have their names there.
        let block: [UInt8] = [method == "POST" ? 0x83 : 0x82, 0x87, 0x04] + text(path) + [0x01] + text("h") + more
        return frame(Kind.headers, flags: (ends ? 1 : 0) | (isWhole ? 4 : 0), stream: stream, payload: block)
    }

    static func setting(_ name: Int, _ value: Int) -> [UInt8] {
        frame(Kind.settings, flags: 0, stream: 0, payload: number(name, 2) + number(value, 4))
    }

    /// A body in frames of at most 16 KiB, without an end.
    static func data(_ count: Int, on stream: Int) -> [UInt8] {
        stride(from: 0, to: max(count, 1), by: 16_384).flatMap { start in
            frame(Kind.data, flags: 0, stream: stream, payload: Array(repeating: 1, count: min(16_384, count - start)))
        }
    }

    static func trailers(_ name: String, on stream: Int, ends: Bool = true) -> [UInt8] {
        frame(Kind.headers, flags: ends ? 5 : 4, stream: stream, payload: field(name, "y"))
    }

    /// A field as an HPACK literal without indexing (RFC 7541 §6.2.2).
    static func field(_ name: String, _ value: String) -> [UInt8] { [0x00] + text(name) + text(value) }

    static func frame(_ type: UInt8, flags: UInt8, stream: Int, payload: [UInt8]) -> [UInt8] {
        number(payload.count, 3) + [type, flags] + number(stream, 4) + payload
    }

    static func number(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func text(_ text: String) -> [UInt8] {
        precondition(text.utf8.count < 127, "a longer text needs a longer number")
        return [UInt8(text.utf8.count)] + Array(text.utf8)
    }
}
