import NIOCore
import NIOSSL
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The rules of RFC 9113 for connections and streams.
final class HTTP2ProtocolTests: ServerTestCase {
    private typealias Kind = RawHTTP2.Kind

    private enum Code {
        static let none = 0
        static let protocolError = 1
        static let flowControl = 3
        static let closed = 5
        static let frameSize = 6
        static let compression = 9
    }

    func testThatAnErrorOfTheConnectionEndsIt() async throws {
        // Given a server
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let body = RawHTTP2.frame(Kind.data, flags: 0, stream: 1, payload: [1])
        let cases: [(String, [UInt8], Int)] = [
            ("a body on an idle stream", body, Code.protocolError),
            (
                "a reset of an idle stream", RawHTTP2.frame(Kind.reset, flags: 0, stream: 1, payload: [0, 0, 0, 8]),
                Code.protocolError
            ),
            (
                "an increment on an idle stream", RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 1, payload: [0, 0, 0, 1]),
                Code.protocolError
            ),
            ("a stream of the server", RawHTTP2.headers("/health", on: 2), Code.protocolError),
            (
                "a stream below the newest", RawHTTP2.headers("/health", on: 5) + RawHTTP2.headers("/health", on: 3),
                Code.protocolError
            ),
            (
                "trailers on a stream that was reset",
                RawHTTP2.headers("/prefetch", on: 1, ends: false) + RawHTTP2.trailers("x", on: 1, ends: false)
                    + RawHTTP2.trailers("x", on: 1), Code.protocolError
            ),
            (
                "a connection's window above the largest",
                RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: [0x7F, 0xFF, 0xFF, 0xFF]), Code.flowControl
            ),
            ("a setting for promises that is no flag", RawHTTP2.setting(2, 2), Code.protocolError),
            ("a first window above the largest", RawHTTP2.setting(4, 1 << 31), Code.flowControl),
            ("a shortest frame that is too short", RawHTTP2.setting(5, 16_383), Code.protocolError),
            ("a longest frame that is too long", RawHTTP2.setting(5, 1 << 24), Code.protocolError),
            (
                "an entry that is in no table", RawHTTP2.frame(Kind.headers, flags: 5, stream: 1, payload: [0xFF, 0x7F]),
                Code.compression
            ),
            (
                "half a field", RawHTTP2.frame(Kind.headers, flags: 5, stream: 1, payload: [0x82, 0x04, 0x05, 0x2F]),
                Code.compression
            ),
            ("the entry without a number", RawHTTP2.frame(Kind.headers, flags: 5, stream: 1, payload: [0x80]), Code.compression),
            ("a frame of 16,385 bytes", [0, 0x40, 1, 0, 0, 0, 0, 0, 1], Code.frameSize),
        ]
        for (name, bytes, code) in cases {
            try await RawHTTP2.with(server.url, certificate) { client in
                // When a client breaks a rule
                try await client.send(bytes)
                // Then the server says which, and closes the connection
                let goodbye = await client.next { $0.type == Kind.goAway }
                XCTAssertEqual(goodbye?.payload.suffix(4).last, UInt8(code), name)
                while await client.next() != nil {}
            }
        }
    }

    func testThatAnErrorOfAStreamEndsItAlone() async throws {
        // Given a server
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        try await RawHTTP2.with(server.url, certificate) { client in
            let open = { RawHTTP2.headers("/prefetch", on: $0, ends: false, more: RawHTTP2.field("content-length", "9")) }
            let cases: [(String, (Int) -> [UInt8], Int)] = [
                (
                    "a window above the largest",
                    { open($0) + RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: $0, payload: [0x7F, 0xFF, 0xFF, 0xFF]) },
                    Code.flowControl
                ),
                (
                    "a value with too many marks",
                    { RawHTTP2.headers("/health", on: $0, more: RawHTTP2.field("te", String(repeating: "\u{301}", count: 31))) },
                    Code.protocolError
                ),
                (
                    "a pseudo-field of marks",
                    {
                        let name = ":" + String(repeating: "\u{301}", count: 60)
                        return RawHTTP2.headers("/health", on: $0, more: RawHTTP2.field(name, "x"))
                    },
                    Code.protocolError
                ),
                (
                    "a body after the end",
                    { RawHTTP2.headers("/health", on: $0) + RawHTTP2.data(1, on: $0) }, Code.closed
                ),
                (
                    "a second request on a stream",
                    { RawHTTP2.headers("/health", on: $0) + RawHTTP2.headers("/health", on: $0) }, Code.protocolError
                ),
                ("a body that is too long", { open($0) + RawHTTP2.data(10, on: $0) }, Code.protocolError),
                (
                    "a body that is too short",
                    { open($0) + RawHTTP2.frame(Kind.data, flags: 1, stream: $0, payload: [1, 2, 3]) }, Code.protocolError
                ),
                ("trailers before the end of the body", { open($0) + RawHTTP2.trailers("x", on: $0) }, Code.protocolError),
                (
                    "trailers that end nothing",
                    { RawHTTP2.headers("/prefetch", on: $0, ends: false) + RawHTTP2.trailers("x", on: $0, ends: false) },
                    Code.protocolError
                ),
                (
                    "trailers with a path",
                    { RawHTTP2.headers("/prefetch", on: $0, ends: false) + RawHTTP2.trailers(":path", on: $0) },
                    Code.protocolError
                ),
            ]
            for (number, (name, bytes, code)) in cases.enumerated() {
                // When a request breaks a rule
                let stream = 2 * number + 1
                try await client.send(bytes(stream))
                // Then its stream is reset
                let reset = await client.next { $0.type == Kind.reset || $0.type == Kind.goAway }
                XCTAssertEqual(reset?.type, Kind.reset, name)
                XCTAssertEqual(reset?.stream, stream, name)
                XCTAssertEqual(reset?.payload.last, UInt8(code), name)
                // And what the client has sent before it knew is ignored
                try await client.send(RawHTTP2.data(5, on: stream))
            }
            // And the connection goes on
            try await client.get("/health", on: 101)
            let answer = await client.next { $0.type == Kind.headers && $0.stream == 101 }
            XCTAssertTrue(answer?.isOK ?? false)
        }
    }

    func testThatABodyWithTrailersIsARequest() async throws {
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        try await RawHTTP2.with(server.url, certificate) { client in
            try await client.send(
                RawHTTP2.headers("/prefetch", on: 1, ends: false) + RawHTTP2.data(5, on: 1) + RawHTTP2.trailers("x", on: 1))
            let answer = await client.next { $0.stream == 1 }
            XCTAssertEqual(answer?.type, Kind.headers)
        }
    }

    func testThatPingsAndSettingsAreAnswered() async throws {
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        try await RawHTTP2.with(server.url, certificate) { client in
            // Given the settings of the server: 100 streams, and 16 KiB of fields
            let settings = await client.next { $0.type == Kind.settings }
            XCTAssertEqual(settings?.payload, [0, 3, 0, 0, 0, 100, 0, 6, 0, 0, 0x40, 0])
            // When a client sends a ping, settings and a ping
            let ping = { RawHTTP2.frame(Kind.ping, flags: 0, stream: 0, payload: Array(repeating: $0, count: 8)) }
            try await client.send(ping(7) + RawHTTP2.setting(1, 0) + RawHTTP2.setting(0x99, 5) + ping(8))
            // Then each is answered, in order, and those of the connection's beginning before
            var answers: [String] = []
            while answers.count < 5, let frame = await client.next() {
                answers.append("\(frame.type) \(frame.flags) \(frame.payload.first ?? 0)")
            }
            XCTAssertEqual(answers, ["4 1 0", "6 1 7", "4 1 0", "4 1 0", "6 1 8"])
        }
    }

    func testStreamBeyondTheLimitEndsTheConnection() async throws {
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        try await RawHTTP2.with(server.url, certificate) { client in
            // Given a client that has begun a hundred requests
            try await client.send((0..<100).flatMap { RawHTTP2.headers("/prefetch", on: 2 * $0 + 1, ends: false) })
            // When it takes one back, then there is room for another
            try await client.send(RawHTTP2.frame(Kind.reset, flags: 0, stream: 1, payload: [0, 0, 0, 8]))
            try await client.get("/health", on: 201)
            let answer = await client.next { $0.type == Kind.headers && $0.stream == 201 }
            XCTAssertTrue(answer?.isOK ?? false)
            // When it begins two more, then its connection ends
            try await client.send([203, 205].flatMap { RawHTTP2.headers("/prefetch", on: $0, ends: false) })
            let goodbye = await client.next { $0.type == Kind.goAway }
            XCTAssertEqual(goodbye?.payload.last, UInt8(Code.protocolError))
            while await client.next() != nil {}
        }
    }

    func testThatRandomFramesEndNoServer() async throws {
        // Given a server, and a poster in memory
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let poster = "/t/p/w92/sample/1.jpg"
        try await RawHTTP2.with(server.url, certificate) { client in _ = try await client.body(of: poster, on: 1) }
        for seed in 0..<150 {
            var random = Seeded(state: UInt64(seed))
            var bytes: [UInt8] = []
            var stream = 1
            // When clients send frames that are well formed, or nearly
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                bytes += Self.frame(&stream, poster, &random)
                if Int.random(in: 0..<30, using: &random) == 0 {
                    bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
            }
            do {
                try await RawHTTP2.with(server.url, certificate, window: [0, 100, 65_535].randomElement(using: &random) ?? 0) {
                    client in
                    try await client.send(bytes)
                    // The answer to this ping comes after all others. If it is in the middle of a frame, the zeros end that, and are an error.
                    try await client.send(
                        RawHTTP2.frame(Kind.ping, flags: 0, stream: 0, payload: Array(repeating: 0xEE, count: 8))
                            + Array(repeating: 0, count: 20_000))
                    _ = await client.next { $0.type == Kind.ping && $0.payload.first == 0xEE || $0.type == Kind.goAway }
                }
            } catch {
                // The server has closed the connection.
            }
        }
        // Then others are served, and nothing stays
        try await RawHTTP2.with(server.url, certificate) { client in
            let served = try await client.body(of: poster, on: 1)
            XCTAssertFalse(served.isEmpty)
            var (text, stream) = ("", 3)
            repeat {
                text = String(decoding: try await client.body(of: "/metrics", on: stream), as: UTF8.self)
                stream += 2
            } while !text.contains("\nonesheet_response_bytes_held 0\n") && stream < 20_000
            XCTAssertTrue(text.contains("\nonesheet_response_bytes_held 0\n"))
        }
    }

    /// A frame of any kind. The next stream is opened often.
    private static func frame(_ stream: inout Int, _ poster: String, _ random: inout Seeded) -> [UInt8] {
        func some() -> Int { max(stream - 2 * Int.random(in: 0...4, using: &random), 1) }
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4:
            stream += 2
            let path =
                [poster, "/health", "/sources", "/t/p/w92/sample/99.jpg", "/prefetch"].randomElement(using: &random) ?? poster
            return RawHTTP2.headers(path, on: stream, ends: Int.random(in: 0..<4, using: &random) > 0)
        case 5: return RawHTTP2.data(.random(in: 0...300, using: &random), on: some())
        case 6: return RawHTTP2.frame(Kind.reset, flags: 0, stream: some(), payload: [0, 0, 0, 8])
        case 7, 8:
            let increment = [1, 100, 50_000, 1 << 30].randomElement(using: &random) ?? 1
            let on = Bool.random(using: &random) ? 0 : some()
            return RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: on, payload: RawHTTP2.number(increment, 4))
        case 9: return RawHTTP2.setting(4, [0, 1, 65_535, 1 << 20].randomElement(using: &random) ?? 0)
        case 10: return RawHTTP2.trailers("x", on: some())
        default:
            let count = Int.random(in: 0...20, using: &random)
            let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            return RawHTTP2.frame(
                .random(in: 0...12, using: &random), flags: .random(in: 0...255, using: &random), stream: some(), payload: payload)
        }
    }
}

/// SplitMix64, so that a failure can be repeated.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
