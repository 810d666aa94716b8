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
}
