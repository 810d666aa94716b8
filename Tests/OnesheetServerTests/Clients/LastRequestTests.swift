import NIOCore
import XCTest

/// No request is answered behind one that ends the connection (RFC 9112 §9.6).
final class LastRequestTests: ServerTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"

    func testThatEverySpellingOfCloseEndsTheConnection() async throws {
        // Given a picture that the fast path answers
        let server = try await server(keys: "clients: { idleTimeout: 5s }")
        for _ in 0..<2 { _ = try await server.send(poster) }
        let spellings = [
            "Connection: close", "Connection: Close", "Connection: close, te", "Connection: te, close",
            "Connection: te\r\nConnection: close",
        ]
        for spelling in spellings {
            for path in ["/sources", poster, "/ready"] {
                try await OpenConnection.with(server.url) { connection in
                    // When another request comes with the last one, or after its response
                    let last = "GET \(path) HTTP/1.1\r\nHost: h\r\n\(spelling)\r\n\r\n"
                    let other = "GET \(poster) HTTP/1.1\r\nHost: h\r\nIf-None-Match: *\r\n\r\n"
                    try await connection.send(last + other)
                    let start = try await connection.read(until: "\r\n\r\n")
                    // The connection may be closed already.
                    try? await connection.send(other)
                    // Then the connection ends without a response to it
                    let text = start + (await connection.readToEnd())
                    XCTAssertTrue(text.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(spelling) \(path)")
                    XCTAssertFalse(text.contains("HTTP/1.1 304"), "\(spelling) \(path)")
                }
            }
        }
    }

    func testTheLastResponseIsCompleteAlthoughTheClientSendsMore() async throws {
        // Given a large picture, and a client that takes little at a time
        let server = try await server(keys: "clients: { idleTimeout: 5s }")
        let large = "/t/p/original/sample/1.jpg"
        let expected = try await server.send(large).body.readableBytes
        try await OpenConnection.with(server.url, room: 4096) { connection in
            // When more requests follow its last one than the server reads with it
            let other = "GET \(large) HTTP/1.1\r\nHost: h\r\n\r\n"
            try await connection.send(
                "GET \(large) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + String(repeating: other, count: 500))
            // Then it gets one response, complete
            var received = ByteBuffer()
            while let bytes = try await connection.next() { received.writeImmutableBuffer(bytes) }
            let body = try XCTUnwrap(received.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)))
            XCTAssertEqual(received.readableBytesView[body.upperBound...].count, expected)
        }
    }
}
