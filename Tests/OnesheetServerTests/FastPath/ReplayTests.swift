import XCTest

/// The requests in the tables of other tests, with both implementations of simple requests.
final class ReplayTests: ServerTestCase {
    private let poster = MalformedRequests.poster
    private let hit = "GET \(MalformedRequests.poster) HTTP/1.1\r\nHost: h\r\n\r\n"
    private let keys = "admin: { token: secret-for-tests }\ndialects: [thumbor, cloudflare, iiif, next]"

    func testThatEveryMalformedRequestIsAnsweredTheSame() async throws {
        let ways = try await twoWays(keys: keys, warm: [poster])
        for row in MalformedRequests.rows { try await ways.assertSame([row.bytes], row.name) }
    }

    func testThatEveryMalformedRequestIsAnsweredTheSameBesideAPlainOne() async throws {
        let ways = try await twoWays(keys: keys, warm: [poster])
        for row in MalformedRequests.rows {
            try await ways.assertSame([bytes(hit) + row.bytes], "after a hit: \(row.name)")
            try await ways.assertSame([row.bytes + bytes(hit)], "before a hit: \(row.name)")
        }
    }

    func testThatEveryDialectIsAnsweredTheSame() async throws {
        let paths = OtherDialectsTests.pairs.map(\.other)
        let ways = try await twoWays(keys: keys, warm: paths + [poster])
        for path in paths {
            for (method, field) in [("GET", ""), ("HEAD", ""), ("GET", "Accept: image/png\r\n"), ("GET", "If-None-Match: *\r\n")] {
                let request = bytes("\(method) \(path) HTTP/1.1\r\nHost: h\r\n\(field)\r\n")
                try await ways.assertSame([request], path)
                try await ways.assertSame([bytes(hit) + request + bytes(hit)], path)
            }
        }
    }

    func testThatRequestsMayBeSplitAnywhere() async throws {
        // Given requests in turn, and servers that have read the part before a split when the rest is sent
        let ways = try await twoWays(keys: keys, warm: [poster, "/t/p/w92/sample/2"], onSockets: true)
        for stream in try await streams(ways) {
            // When they arrive in two parts, split anywhere, then both give the same responses
            for place in 0...stream.count {
                try await ways.assertSame([Array(stream[..<place]), Array(stream[place...])], "split at \(place)")
            }
            // The same byte by byte
            try await ways.assertSame(stream.map { [$0] }, "byte by byte")
        }
    }

    private func streams(_ ways: TwoWays) async throws -> [[UInt8]] {
        let answer = try await ways.ordinary.send(poster)
        let tag = try XCTUnwrap(answer.field("ETag"))
        func request(_ target: String, _ fields: String = "", method: String = "GET") -> String {
            "\(method) \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
        }
        return [
            hit + request("/health") + request(poster, "Content-Length: 4\r\n", method: "POST") + "\r\n\r\n"
                + request(poster, method: "HEAD"),
            request(poster, "If-None-Match: \(tag)\r\nUser-Agent: x\r\n") + request("/t/p/w92/sample/2", "Accept: image/png\r\n")
                + request(poster, "Range: bytes=0-9\r\n") + hit,
            request("/nowhere", "Transfer-Encoding: chunked\r\n", method: "POST") + "4\r\nbody\r\n0\r\n\r\n" + hit
                + request("/cdn-cgi/image/w=92,format=jpeg/sample://1"),
            hit + hit + request(poster, "Bad Name: x\r\n") + hit,
        ].map(bytes)
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
}
