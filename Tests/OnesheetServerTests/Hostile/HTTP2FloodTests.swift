import NIOCore
import NIOSSL
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// HTTP/2 clients whose cheap frames could be expensive for a server.
final class HTTP2FloodTests: ServerTestCase {
    private typealias Kind = RawHTTP2.Kind

    func testThatFloodsOfFramesEndTheirConnectionAndNobodyElses() async throws {
        // Given a server that closes no idle connection
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nclients: { idleTimeout: 1h, requestTimeout: 1h }")
        let begin = RawHTTP2.headers("/health", on: 1, ends: false, isWhole: false)
        let floods: [(String, (Int) -> [UInt8])] = [
            // CVE-2023-44487
            (
                "streams that are reset at once",
                {
                    RawHTTP2.headers("/t/p/w92/sample/1.jpg", on: 2 * $0 + 1)
                        + RawHTTP2.frame(Kind.reset, flags: 0, stream: 2 * $0 + 1, payload: [0, 0, 0, 8])
                }
            ),
            // CVE-2019-9512, CVE-2019-9515
            ("pings", { _ in RawHTTP2.frame(Kind.ping, flags: 0, stream: 0, payload: Array(repeating: 1, count: 8)) }),
            ("settings", { _ in RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: []) }),
            // CVE-2024-27316
            (
                "continuations",
                {
                    ($0 == 0 ? begin : [])
                        + RawHTTP2.frame(Kind.continuation, flags: 0, stream: 1, payload: RawHTTP2.field("a", "b"))
                }
            ),
            // CVE-2019-9518
            (
                "data without bytes",
                {
                    ($0 == 0 ? RawHTTP2.headers("/health", on: 1, ends: false) : [])
                        + RawHTTP2.frame(Kind.data, flags: 0, stream: 1, payload: [])
                }
            ),
            ("answers to no ping", { _ in RawHTTP2.frame(Kind.ping, flags: 1, stream: 0, payload: Array(repeating: 1, count: 8)) }),
            (
                "requests that break a rule",
                { RawHTTP2.headers("/health", on: 2 * $0 + 1, more: RawHTTP2.field("Upper", "x")) }
            ),
            // Each field counts: the list is long although it has few bytes
            (
                "many small fields",
                {
                    RawHTTP2.headers(
                        "/health", on: 2 * $0 + 1, more: Array(repeating: RawHTTP2.field("a", ""), count: 2000).flatMap { $0 })
                }
            ),
        ]
        for (name, flood) in floods {
            try await RawHTTP2.with(server.url, certificate) { client in
                // When a client sends more of these than any limit allows
                do {
                    for index in 0..<1200 { try await client.send(flood(index)) }
                } catch {
                    // The server has already closed the connection.
                }
                // Then its connection closes
                while await client.next() != nil {}
            }
            // And other clients are served
            try await RawHTTP2.with(server.url, certificate) { client in
                try await client.get("/health", on: 1)
                let answer = await client.next { $0.type == Kind.headers }
                XCTAssertTrue(answer?.isOK ?? false, name)
            }
        }
    }

    func testThatAWindowOfNothingHoldsNoMoreThanThereIs() async throws {
        // Given pictures of 16 MiB each, none of them in memory, and room for two that no slow client makes
        let server = try await bigPictures(
            keys: "clients: { memory: 32MiB, idleTimeout: 1h, requestTimeout: 1h }", stallTimeout: .hours(1))
        let (url, certificate, origin) = (server.server.url, server.certificate, server.origin)
        // And a poster in memory
        let poster = "/t/p/w92/sample/1.jpg"
        try await RawHTTP2.with(url, certificate) { client in
            try await client.get(poster, on: 1)
            let answer = await client.next { $0.flags & 1 == 1 && $0.stream == 1 }
            XCTAssertNotNil(answer)
        }
        try await RawHTTP2.with(url, certificate, window: 0) { client in
            // When a client requests many of them at once and reads nothing
            for index in 0..<20 { try await client.get("/i/unsafe/plain/\(origin)/\(index)@jpg", on: 2 * index + 1) }
            var statuses: [Bool] = []
            while statuses.count < 20, let head = await client.next(where: { $0.type == Kind.headers }) {
                statuses.append(head.isOK)
            }
            // Then all get heads immediately
            let good = statuses.count { $0 }
            XCTAssertEqual(statuses.count, 20)
            try await RawHTTP2.with(url, certificate) { other in
                // And the memory of bodies is counted
                let held = try await Self.metric("onesheet_response_bytes_held", &other, on: 1)
                XCTAssertTrue((16 << 20...33 << 20).contains(held), "\(held)")
                // And pictures are sent if there is room
                XCTAssertTrue((1...2).contains(good), "\(good)")
                // And posters in memory are served
                try await other.get(poster, on: 3)
                let answer = await other.next { $0.type == Kind.headers && $0.stream == 3 }
                XCTAssertTrue(answer?.isOK ?? false)
            }
        }
        // And the memory is released after the client has left
        try await RawHTTP2.with(url, certificate) { other in
            var (held, tries) = (1, 0)
            while held > 0, tries < 10_000 {
                held = try await Self.metric("onesheet_response_bytes_held", &other, on: 2 * tries + 1)
                tries += 1
            }
            XCTAssertEqual(held, 0)
        }
    }

    /// A loop that is busy at that moment is the subject of `ClientRequestTests`.
    func testThatALongBodyIsBeingSentForAsLongAsItIsNotTaken() async throws {
        // Given pictures of 24 MiB, and room for four
        let server = try await bigPictures(
            keys: "clients: { memory: 128MiB, idleTimeout: 1h, requestTimeout: 1h }", bytes: 24 << 20)
        let (url, certificate, origin) = (server.server.url, server.certificate, server.origin)
        try await RawHTTP2.with(url, certificate, window: 0) { client in
            // When a client requests one and allows no byte
            try await client.get("/i/unsafe/plain/\(origin)/a@jpg", on: 1)
            let head = await client.next { $0.type == Kind.headers && $0.stream == 1 }
            XCTAssertTrue(head?.isOK ?? false)
            // And requests another one on the same connection
            try await client.get("/i/unsafe/plain/\(origin)/b@jpg", on: 3)
            let other = await client.next { $0.type == Kind.headers && $0.stream == 3 }
            // Then that is refused, because the first is being sent for as long as it is not taken
            XCTAssertFalse(try XCTUnwrap(other).isOK)
            // And its buffer is held once, without copies
            let held = try await Self.bytesHeld(server.server, certificate)
            XCTAssertTrue((24 << 20...33 << 20).contains(held), "\(held)")
        }
    }

    func testThatAStreamThatStandsStillEndsAndItsConnectionGoesOn() async throws {
        // Given a server with a short timeout
        let server = try await bigPictures(keys: "clients: { idleTimeout: 500ms, requestTimeout: 1h }")
        try await RawHTTP2.with(server.server.url, server.certificate, window: 0) { client in
            // When a client reads nothing of one response
            try await client.get("/i/unsafe/plain/\(server.origin)/1@jpg", on: 1)
            let head = await client.next { $0.type == Kind.headers }
            XCTAssertTrue(head?.isOK ?? false)
            // Then that stream is reset, and the connection stays open
            let reset = await client.next { $0.type == Kind.reset || $0.type == Kind.goAway }
            XCTAssertEqual(reset?.type, Kind.reset)
            XCTAssertEqual(reset?.stream, 1)
        }
    }

    func testThatAStreamWhoseRequestNeverEndsIsReset() async throws {
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nclients: { idleTimeout: 1h, requestTimeout: 600ms }")
        try await RawHTTP2.with(server.url, certificate) { client in
            try await client.get("/health", on: 1, ends: false)
            let reset = await client.next { $0.type == Kind.reset || $0.type == Kind.goAway }
            XCTAssertEqual(reset?.type, Kind.reset)
        }
    }

    func testThatANegativeWindowEndsNoServer() async throws {
        // Given a picture that is longer than the first window of a connection
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let (picture, first) = ("/t/p/original/sample/1.jpg", 65_535)
        var length = 0
        try await RawHTTP2.with(server.url, certificate) { client in length = try await client.body(of: picture, on: 1).count }
        XCTAssertGreaterThan(length, first)
        try await RawHTTP2.with(server.url, certificate, window: 1 << 20) { client in
            // When the window of the connection is used up exactly when the body ends
            try await client.get(picture, on: 1)
            try await client.send(
                RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: RawHTTP2.number(length - first, 4)))
            var received = 0
            while received < length, let part = await client.next(where: { $0.type == Kind.data }) {
                received += part.payload.count
            }
            XCTAssertEqual(received, length)
            // And the client makes the windows of its streams negative, and the connection may go on
            try await client.send(RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: [0, 4] + RawHTTP2.number(0, 4)))
            try await client.send(RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: RawHTTP2.number(1, 4)))
            // Then it does
            try await client.get("/t/p/w92/sample/1.jpg", on: 3)
            let answer = await client.next { $0.type == Kind.headers && $0.stream == 3 }
            XCTAssertTrue(answer?.isOK ?? false)
        }
    }

    func testThatAStreamBehindAHitIsResetAsOthersAre() async throws {
        // Given a poster in memory, and a short timeout for requests
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nclients: { idleTimeout: 1h, requestTimeout: 600ms }")
        let poster = "/t/p/w92/sample/1.jpg"
        try await RawHTTP2.with(server.url, certificate) { client in
            _ = try await client.body(of: poster, on: 1)
            // When a request that never ends follows a hit in the same packet
            try await client.send(RawHTTP2.headers(poster, on: 3) + RawHTTP2.headers("/sources", on: 5, ends: false))
            // Then the hit is answered, and the stream behind it is reset
            let end = await client.next { $0.stream == 3 && $0.flags & 1 == 1 }
            XCTAssertNotNil(end)
            let reset = await client.next { $0.type == Kind.reset || $0.type == Kind.goAway }
            XCTAssertEqual(reset?.type, Kind.reset)
            XCTAssertEqual(reset?.stream, 5)
        }
    }

    func testThatAnErrorOfOneStreamEndsOnlyThatStream() async throws {
        // Given a server that reads the body of a request
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        try await RawHTTP2.with(server.url, certificate) { client in
            // When a request declares a body and has none, whether or not its stream has a channel
            let length = RawHTTP2.field("content-length", "5")
            try await client.send(RawHTTP2.headers("/health", on: 1, more: length))
            try await client.send(
                RawHTTP2.headers("/prefetch", on: 3, ends: false, more: length)
                    + RawHTTP2.frame(Kind.data, flags: 1, stream: 3, payload: [1]))
            for stream in [1, 3] {
                // Then its stream is reset
                let reset = await client.next { $0.type == Kind.reset || $0.type == Kind.goAway }
                XCTAssertEqual(reset?.type, Kind.reset)
                XCTAssertEqual(reset?.stream, stream)
            }
            // And so it is after fields that no request may have
            let fields = [("te", "transfer-encoding"), ("connection", "x"), ("Upper", "x"), (":path", "/other")]
            for (number, (name, value)) in fields.enumerated() {
                let stream = 5 + 2 * number
                try await client.send(RawHTTP2.headers("/health", on: stream, more: RawHTTP2.field(name, value)))
                let reset = await client.next { $0.type == Kind.reset || $0.type == Kind.goAway }
                XCTAssertEqual(reset?.type, Kind.reset, name)
                XCTAssertEqual(reset?.stream, stream, name)
            }
            // And the connection goes on
            try await client.get("/health", on: 21)
            let answer = await client.next { $0.type == Kind.headers && $0.stream == 21 }
            XCTAssertTrue(answer?.isOK ?? false)
        }
    }

    func testThatAHitThatTheClientDoesNotTakeIsCountedAndEnds() async throws {
        // Given a poster in memory
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nclients: { idleTimeout: 3s, requestTimeout: 1h }")
        let poster = "/t/p/w342/sample/1.jpg"
        var length = 0
        try await RawHTTP2.with(server.url, certificate) { client in length = try await client.body(of: poster, on: 1).count }
        XCTAssertGreaterThan(length, 1000)
        try await RawHTTP2.with(server.url, certificate, window: 0) { client in
            // When a client requests it and allows no byte
            try await client.get(poster, on: 1)
            let head = await client.next { $0.type == Kind.headers && $0.stream == 1 }
            XCTAssertTrue(head?.isOK ?? false)
            // Then it counts as memory
            let held = try await Self.bytesHeld(server, certificate)
            XCTAssertGreaterThanOrEqual(held, length)
            // And what the client allows arrives
            try await client.send(RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 1, payload: RawHTTP2.number(1000, 4)))
            let part = await client.next { $0.type == Kind.data && $0.stream == 1 }
            XCTAssertEqual(part?.payload.count, 1000)
            // And the rest is given up in the end, and the connection goes on
            let reset = await client.next { $0.type == Kind.reset || $0.type == Kind.goAway }
            XCTAssertEqual(reset?.type, Kind.reset)
            XCTAssertEqual(reset?.stream, 1)
            try await client.get(poster, on: 3)
            let next = await client.next { $0.type == Kind.headers && $0.stream == 3 }
            XCTAssertTrue(next?.isOK ?? false)
        }
        // And nothing is counted after the client has left
        var (held, tries) = (1, 0)
        while held > 0, tries < 1000 {
            held = try await Self.bytesHeld(server, certificate)
            tries += 1
        }
        XCTAssertEqual(held, 0)
    }

    func testThatOneConnectionHasOnlySoManyHitsWaiting() async throws {
        // Given a server with a poster in memory
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml)
        let poster = "/t/p/w342/sample/1.jpg"
        var body: [UInt8] = []
        try await RawHTTP2.with(server.url, certificate) { client in body = try await client.body(of: poster, on: 1) }
        try await RawHTTP2.with(server.url, certificate, window: 0) { client in
            // When a client requests it on all its streams, and allows the bytes only afterwards
            let streams = (0..<100).map { 2 * $0 + 1 }
            try await client.send(streams.flatMap { RawHTTP2.headers(poster, on: $0) })
            for _ in streams {
                let head = await client.next { $0.type == Kind.headers }
                XCTAssertTrue(head?.isOK ?? false)
            }
            try await client.send(RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: RawHTTP2.number(1 << 30, 4)))
            try await client.send(
                streams.flatMap { RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: $0, payload: RawHTTP2.number(1 << 20, 4)) })
            // Then each stream gets the whole poster
            var received: [Int: [UInt8]] = [:]
            var ended: Set<Int> = []
            while ended.count < streams.count, let frame = await client.next(where: { $0.type == Kind.data }) {
                received[frame.stream, default: []] += frame.payload
                if frame.flags & 1 == 1 { ended.insert(frame.stream) }
            }
            XCTAssertEqual(ended, Set(streams))
            for stream in streams { XCTAssertTrue(received[stream] == body, "\(stream)") }
        }
        // And the fast path has not answered all of them: it does not hold a hundred posters for one client
        try await RawHTTP2.with(server.url, certificate) { client in
            let fast = try await Self.metric("onesheet_fast_path_requests_total{route=\"/t/p/\"}", &client, on: 1)
            XCTAssertTrue((1..<100).contains(fast), "\(fast)")
        }
    }

    func testThatStreamsHaveAShareOfTheMemory() async throws {
        // Given a server with room for 256 streams that are not answered at once, and a poster in memory
        let certificate = try SelfSigned(in: folder())
        let server = try await server(keys: certificate.yaml + "\nlimits: { memory: 64MiB }")
        let poster = "/t/p/w92/sample/1.jpg"
        try await RawHTTP2.with(server.url, certificate) { first in
            _ = try await first.body(of: poster, on: 1)
            try await RawHTTP2.with(server.url, certificate) { second in
                try await RawHTTP2.with(server.url, certificate) { third in
                    // When connections open a hundred streams each and end none of the requests
                    var refused = try await Self.streamsRefused(&first)
                    refused += try await Self.streamsRefused(&second)
                    refused += try await Self.streamsRefused(&third)
                    // Then those without room are refused, in a way that allows another try
                    XCTAssertEqual(refused, 300 - 256)
                    // And hits need no room
                    try await third.get(poster, on: 1001)
                    let answer = await third.next { $0.type == Kind.headers && $0.stream == 1001 }
                    XCTAssertTrue(answer?.isOK ?? false)
                }
            }
        }
        // And the streams of closed connections make room
        try await RawHTTP2.with(server.url, certificate) { client in
            var (isServed, stream) = (false, 1)
            while !isServed, stream < 2000 {
                try await client.get("/sources", on: stream)
                let answer = await client.next { [Kind.headers, Kind.reset].contains($0.type) && $0.stream == stream }
                isServed = answer?.isOK ?? false
                stream += 2
            }
            XCTAssertTrue(isServed)
        }
    }

    func testThatStreamsThatAreResetAtOnceAskNobody() async throws {
        // Given a server with an access log, and an origin
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let (log, certificate) = (folder(), try SelfSigned(in: folder()))
        let server = try await server(sources: web(origin), keys: certificate.yaml + "\naccessLog: { path: \"\(log)\" }")
        try await RawHTTP2.with(server.url, certificate) { client in
            // When a client requests pictures that are in no cache, and resets each stream at once
            let floods = (0..<50).map { 2 * $0 + 1 }.flatMap { stream in
                RawHTTP2.headers("/i/unsafe/plain/\(origin.url)/\(stream)@jpg", on: stream)
                    + RawHTTP2.frame(Kind.reset, flags: 0, stream: stream, payload: [0, 0, 0, 8])
            }
            try await client.send(floods)
            // Then the next stream is answered
            try await client.get("/health", on: 101)
            let answer = await client.next { $0.type == Kind.headers && $0.stream == 101 }
            XCTAssertTrue(answer?.isOK ?? false)
        }
        await server.stop()
        // And nobody was asked for the others, which the log has
        XCTAssertEqual(origin.requests(), 0)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        XCTAssertEqual(lines.count { $0.contains("HTTP/2.0\" 499 0 ") }, 50, "\(lines)")
    }

    /// A server without a memory tier, and an origin with pictures of 16 MiB or another length, each at its own path.
    private func bigPictures(
        keys: String, bytes: Int = 16 << 20, stallTimeout: TimeAmount = ResponseMemory.stallTimeout
    ) async throws -> (server: RunningServer, certificate: SelfSigned, origin: String) {
        var picture = try Picture.jpeg()
        // Bytes after the end of a picture are ignored, so they give it any length.
        picture.writeRepeatingByte(0, count: bytes - picture.readableBytes)
        let body = picture
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let certificate = try SelfSigned(in: folder())
        let server = try await server(
            sources: web(origin) + "\nsample: { type: sample }",
            keys: "\(certificate.yaml)\n\(keys)\nlimits: { originTimeout: 1h, originIdleTimeout: 1h }", memory: "1MiB",
            stallTimeout: stallTimeout)
        return (server, certificate, origin.url)
    }

    /// Begins a hundred requests.
    /// - Returns: how many of their streams are refused (RFC 9113 §8.7).
    private static func streamsRefused(_ client: inout RawHTTP2) async throws -> Int {
        let heads = (1...100).flatMap { RawHTTP2.headers("/prefetch", on: 2 * $0 + 1, ends: false) }
        let ping = RawHTTP2.frame(Kind.ping, flags: 0, stream: 0, payload: Array(repeating: 7, count: 8))
        // The last request is looked at after the first ping has been answered.
        try await client.send(heads + ping + ping)
        var (refused, pings) = (0, 0)
        while pings < 2, let frame = await client.next() {
            if frame.type == Kind.ping { pings += 1 }
            if frame.type == Kind.reset, frame.payload == [0, 0, 0, 7] { refused += 1 }
        }
        return refused
    }

    /// The memory of bodies that clients have not taken, read on a connection of its own.
    private static func bytesHeld(_ server: RunningServer, _ certificate: SelfSigned) async throws -> Int {
        var held = 0
        try await RawHTTP2.with(server.url, certificate) { client in
            held = try await metric("onesheet_response_bytes_held", &client, on: 1)
        }
        return held
    }

    /// The value in `/metrics`.
    private static func metric(_ name: String, _ client: inout RawHTTP2, on stream: Int) async throws -> Int {
        let text = try await client.body(of: "/metrics", on: stream)
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return Int(try XCTUnwrap(line, name).dropFirst(name.count + 1)) ?? -1
    }
}
