import Foundation
import NIOCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The fast path and the router give the same responses to simple requests.
final class TwoWaysTests: ServerTestCase {
    func testThatEveryKindOfRequestIsAnsweredTheSame() async throws {
        let ways = try await twoWays()
        for request in try await requests(ways) { try await ways.assertSame([bytes(request)]) }
    }

    func testThatRequestsInOnePacketAreAnsweredTheSameAndInOrder() async throws {
        let ways = try await twoWays()
        let requests = try await requests(ways)
        try await ways.assertSame([requests.flatMap(bytes)])
        try await ways.assertSame([requests.reversed().flatMap(bytes)])
        try await ways.assertSame(requests.map(bytes))
    }

    func testThatChangedBytesAreAnsweredTheSame() async throws {
        // Given requests with some changed, duplicated or missing bytes, equal in every run
        let ways = try await twoWays()
        let requests = try await requests(ways)
        var random = SplitMix(seed: 20_261_121)
        for round in 0..<400 {
            var stream: [UInt8] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) { stream += bytes(requests.randomElement(using: &random) ?? "") }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<stream.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: stream[place] = UInt8.random(in: 0...255, using: &random)
                case 1: stream.remove(at: place)
                case 2: stream.insert(stream[place], at: place)
                default: stream[place] = [0x00, 0x09, 0x0A, 0x0D, 0x20, 0x25, 0x3A, 0x3F].randomElement(using: &random) ?? 0
                }
            }
            // When both servers get them, then both give the same responses
            try await ways.assertSame([stream], "round \(round)")
        }
    }

    func testThatWhatNoTierHasIsAnsweredTheSame() async throws {
        // Given uncached pictures, and other addresses whose responses take time
        let ways = try await twoWays(keys: "dialects: [thumbor, cloudflare, iiif, next]", warm: ["/t/p/w92/sample/1.jpg"])
        let hit = request("/t/p/w92/sample/1.jpg")
        var width = 30
        func targets() -> [String] {
            width += 1
            return [
                "/t/p/w154/sample/\(width)", "/t/p/w92/sample/\(width).png", "/i/unsafe/w:\(width)/plain/sample://1@png",
                "/i/unsafe/w:\(width)/plain/sample://1", "/thumbor/unsafe/\(width)x0/sample://1",
                "/cdn-cgi/image/w=\(width),f=auto/sample://1", "/_next/image?url=sample%3A%2F%2F1&w=\(width)&q=75",
                "/_next/image?url=nobody%3A%2F%2F1&w=\(width)&q=75", "/t/p/w92/sample/\(width).jpg?x=1",
                "/i/unsafe/w:9/plain/sample://1?x",
                "/3/configuration?x=1", "/health?x=1", "/nowhere?x=1", "/sources?x=1",
                "/iiif/3/sample:%2F%2F1/full/\(width),/0/default.jpg",
                "/iiif/3/sample:%2F%2F\(width)/info.json", "/iiif/3/sample:%2F%2F1",
                "/iiif/3/sample:%2F%2F1/full/9999,/0/default.jpg",
                "/t/p/w92/sample/none.jpg", "/t/p/w92/nobody/1.jpg", "/i/wrong/w:9/plain/sample://1", "/i/unsafe/w:9",
                "/i/unsafe/exp:1/plain/sample://1", "/i/unsafe/exp:1/plain/nobody://1", "/sources", "/sources/sample/titles/1",
                "/3/configuration", "/ready", "/health", "/nowhere",
            ]
        }
        func assertSame(_ parts: [[UInt8]]) async throws {
            try await ways.assertSame(parts + [bytes(request("/health", "Connection: close"))], ends: false)
        }
        // When each is requested for the first time, then both give the same responses
        for target in targets() { try await assertSame([bytes(request(target))]) }
        for target in targets() { try await assertSame([bytes(request(target, method: "HEAD", "Accept: image/png"))]) }
        for target in targets() { try await assertSame([bytes(request(target, "If-None-Match: *"))]) }
        // Also in a pipeline on one connection, where each gets its own lookup state
        try await assertSame([targets().flatMap { bytes(request($0)) }])
        try await assertSame(targets().map { bytes(request($0)) })
        try await assertSame(targets().map { bytes(hit + request($0) + hit) })
        try await assertSame([targets().flatMap { bytes(hit + request($0)) }])
    }

    func testThatARequestIsReadAndLookedUpOnce() async throws {
        for hasFastPath in [true, false] {
            // Given a server that has one picture
            let server = try await server(hasFastPath: hasFastPath)
            _ = try await server.send("/t/p/w92/sample/1.jpg")
            let before = try await misses(server)
            // When another size is requested, and one that cannot be made
            _ = try await RawConnection.exchange(
                [bytes(request("/t/p/w154/sample/1.jpg")), bytes(request("/i/unsafe/w:70/plain/sample://1@png"))], with: server.url)
            // Then memory was asked once for each variant
            let after = try await misses(server)
            XCTAssertEqual(after - before, 2, "fast path: \(hasFastPath)")
        }
    }

    /// The number of misses of the memory tier for the sample source.
    private func misses(_ server: RunningServer) async throws -> Int {
        let name = "onesheet_cache_misses_total{tier=\"memory\",source=\"sample\"} "
        let lines = try await server.send("/metrics").text.split(separator: "\n")
        return try XCTUnwrap(lines.first { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) })
    }

    func testThatWhatIsAskedForOftenIsAnsweredTheSame() async throws {
        // Given a picture that is requested so often that its response becomes an in-memory file
        let ways = try await twoWays()
        let poster = "/t/p/w500/sample/1.jpg"
        for way in ways.both { for _ in 0..<2 { _ = try await way.send(poster) } }
        let answer = try await ways.ordinary.send(poster)
        let tag = try XCTUnwrap(answer.field("ETag"))
        // Each after the previous response: otherwise the parser has the unread ones.
        try await OpenConnection.with(ways.early.url) { connection in
            for _ in 0..<20 { _ = try await connection.get(poster) }
        }
        let often = Array(repeating: request(poster), count: 20)
        let others = [
            request(poster, method: "HEAD"), request(poster, "If-None-Match: \(tag)"), request(poster, "Range: bytes=5-9"),
            request("/t/p/w92/sample/1.jpg"), request(poster),
        ]
        // When it is requested one by one, all at once, and among other requests
        try await ways.assertSame(often.map(bytes))
        try await ways.assertSame([(often + others + often).flatMap(bytes)])
        try await ways.assertSame(others.map(bytes))
        // Then the responses are equal, and there is such a file
        XCTAssertFalse(try OpenFiles.paths(below: OpenFiles.memory).isEmpty)
    }

    func testAnImageWhoseAddressHasAQueryIsSentByTheLoop() async throws {
        // Given images in memory, one of whose addresses is a query
        let address = "/_next/image?url=sample%3A%2F%2F1&w=96&q=75"
        let poster = "/t/p/w92/sample/1.jpg"
        let ways = try await twoWays(keys: "dialects: [next]", warm: [address, poster])
        // Then the loop sends them, also if a query has no effect
        XCTAssertNotNil(try early(address, of: ways.early))
        XCTAssertNotNil(try early(poster + "?tag=1", of: ways.early))
        // And nothing for another query
        XCTAssertNil(try early("/_next/image?url=sample%3A%2F%2F1&w=97&q=75", of: ways.early))
        XCTAssertNil(try early("/_next/image", of: ways.early))
        // And the router sends the same, also if one follows another on a connection
        let targets = [address, poster + "?tag=1", poster, address + "&x=1", address]
        try await ways.assertSame([targets.flatMap { bytes(request($0)) }])
        try await ways.assertSame(targets.map { bytes(request($0)) })
    }

    func testTheLoopAnswersTheLastRequestOfAConnection() async throws {
        // Given an image in memory
        let poster = "/t/p/w92/sample/1.jpg"
        let ways = try await twoWays(warm: [poster])
        for path in [poster, "/ready"] {
            let last = bytes(request(path, "Connection: close"))
            // Then the loop answers the last request for it
            XCTAssertNotNil(try early(path, "Connection: close", of: ways.early))
            // And the router gives the same responses, whether the connection has had others or not
            try await ways.assertSame([last + bytes(request("/health"))], ends: false)
            try await ways.assertSame([bytes(request("/nowhere")), bytes(request(poster)), last], ends: false)
            try await ways.assertSame([bytes(request(path, method: "HEAD", "Connection: close"))], ends: false)
        }
    }

    func testThatSimpleRequestsAreRecognised() throws {
        // The assumption of all tests above: the fast path recognises these.
        for request in plainRequests(tag: "\"x\"", date: "Sat, 21 Nov 2026 00:00:00 GMT") {
            let bytes = bytes(request)
            XCTAssertEqual(SimpleRequest(ByteBuffer(bytes: bytes))?.length, bytes.count, request)
        }
    }

    // MARK: Requests

    private func twoWays() async throws -> TwoWays {
        let ways = try await twoWays(
            warm: ["/t/p/w92/sample/1.jpg", "/t/p/w92/sample/2", "/i/unsafe/rs:fit:80:0/plain/sample://1@png"])
        for way in ways.both { _ = try await way.send("/t/p/w92/sample/2", fields: [("Accept", "image/png")]) }
        return ways
    }

    private func requests(_ ways: TwoWays) async throws -> [String] {
        let answer = try await ways.ordinary.send("/t/p/w92/sample/1.jpg")
        let tag = try XCTUnwrap(answer.field("ETag"))
        return plainRequests(tag: tag, date: "Sat, 21 Nov 2026 12:00:00 GMT") + otherRequests(tag: tag)
    }

    private func plainRequests(tag: String, date: String) -> [String] {
        let poster = "/t/p/w92/sample/1.jpg"
        return [
            request(poster), request(poster, "User-Agent: x", "Accept: */*", "X-Request-Id: a"), request(poster, method: "HEAD"),
            request(poster, "If-None-Match: \(tag)"), request(poster, method: "HEAD", "If-None-Match: \(tag)"),
            request(poster, "If-None-Match: \"other\""), request(poster, "If-None-Match: *"),
            request(poster, "If-None-Match: \"a\", \(tag)"), request(poster, "If-None-Match: W/\(tag)"),
            request(poster, "If-Modified-Since: \(date)"), request(poster, "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT"),
            request(poster, "If-Modified-Since: nonsense"),
            request(poster, "If-None-Match: \"other\"", "If-Modified-Since: \(date)"),
            request(poster, "if-none-match:\(tag)", "CONNECTION: Keep-Alive"),
            request("/t/p/w92/sample/2"), request("/t/p/w92/sample/2", "Accept: image/png"),
            request("/t/p/w92/sample/2", "Accept: image/avif,image/webp,image/png;q=0.9,*/*;q=0.8"),
            request("/t/p/w92/sample/2", "Accept:"), request("/t/p/w92/sample/2", "Accept: \t image/png \t"),
            request("/i/unsafe/rs:fit:80:0/plain/sample://1@png"), request("/i/unsafe/rs:fit:80:0/exp:1/plain/sample://1@png"),
            request("/i/unsafe/rs:fit:80:0/exp:2000000000/plain/sample://1@png"),
            request("/i/wrong/rs:fit:80:0/plain/sample://1@png"), request("/i/unsafe/w:80/plain/sample://1@png"),
            request("/t/p/w93/sample/1.jpg"), request("/t/p/w92/nobody/1.jpg"), request("/t/p/w92/sample/%31.jpg"),
            request("/t/p/w92/sample/%FF.jpg"), request("/nowhere"), request("/"), request("/t/p/"), request("/i/"),
        ]
    }

    private func otherRequests(tag: String) -> [String] {
        let poster = "/t/p/w92/sample/1.jpg"
        return [
            request(poster, "X-Unknown: 1"), request(poster, "Range: bytes=0-9"), request(poster + "?x=1"),
            request("http://h" + poster), request(poster, "If-None-Match: \(tag)", "If-None-Match: \"b\""),
            request(poster, "Host: second"), request(poster, "Content-Length: 0"),
            request(poster, method: "OPTIONS"), request(poster, method: "DELETE"),
            request(poster, method: "POST", "Content-Length: 4") + "body",
            request(poster, method: "POST", "Transfer-Encoding: chunked") + "4\r\nbody\r\n0\r\n\r\n",
            request("/health"), request("/health", method: "HEAD"), request("/health", "Range: bytes=0-0"),
        ]
    }

    private func request(_ target: String, method: String = "GET", _ fields: String...) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
