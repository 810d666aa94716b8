import XCTest

/// Clients whose request was refused as none, and who then do not close the connection.
final class RefusedClientsTests: ServerTestCase {
    func testThatWhoeverStaysIsLeft() async throws {
        // Given a server that waits long for requests, and not long for the rest of one
        let file = folder() + ".socket"
        _ = try await server(keys: "clients: { requestTimeout: 200ms, idleTimeout: 1h }", listen: "unix:\(file)")
        let good = "GET /health HTTP/1.1\r\nHost: h\r\n\r\n"
        for bad in ["\0\0\0\0", "GET / HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
            for text in [bad, bad + good, good + bad] {
                // When a client says something that is no request, and keeps its end open
                let isClosed = try await SocketConnection.isClosed(after: Array(text.utf8), with: file, within: 30)
                // Then its place is free for others all the same
                XCTAssertTrue(isClosed, text)
            }
        }
    }
}
