import XCTest

/// Clients that keep their connection open after a malformed request was refused.
final class RefusedClientsTests: ServerTestCase {
    func testThatWhoeverStaysIsLeft() async throws {
        // Given a server with a long timeout for requests, and a short one for the rest of a request
        let file = folder() + ".socket"
        _ = try await server(keys: "clients: { requestTimeout: 200ms, idleTimeout: 1h }", listen: "unix:\(file)")
        let good = "GET /health HTTP/1.1\r\nHost: h\r\n\r\n"
        for bad in ["\0\0\0\0", "GET / HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"] {
            for text in [bad, bad + good, good + bad] {
                // When a client sends a malformed request and keeps its end open
                let isClosed = try await SocketConnection.isClosed(after: Array(text.utf8), with: file, within: 30)
                // Then its slot is released anyway
                XCTAssertTrue(isClosed, text)
            }
        }
    }

    func testThatNothingIsAnsweredAfterARefusal() async throws {
        // Given a picture in memory, which is served immediately, while a refusal is written a moment later
        let file = folder() + ".socket"
        let server = try await server(hasFastPath: true, listen: "unix:\(file)")
        let path = "/t/p/w92/sample/1.jpg"
        for _ in 0..<2 { _ = try await server.send(path) }
        let hit = "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
        // Repeat until the moment is met
        for _ in 0..<100 {
            // When a request follows on a refused one
            let parts = [hit + "GET / HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n", hit]
            let answer = String(
                decoding: try await SocketConnection.exchange(parts.map { Array($0.utf8) }, with: file), as: UTF8.self)
            // Then there is a response to the earlier one and a refusal. A further response would count as that of the refused one
            XCTAssertEqual(answer.matches(of: /HTTP\/1\.1 200/).count, 1)
            XCTAssertEqual(answer.matches(of: /HTTP\/1\.1 400/).count, 1)
        }
    }
}
