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

    func testThatNothingIsAnsweredAfterARefusal() async throws {
        // Given a picture in memory, which is answered at once, while a refusal is written a moment later
        let file = folder() + ".socket"
        let server = try await server(hasFastPath: true, listen: "unix:\(file)")
        let path = "/t/p/w92/sample/1.jpg"
        for _ in 0..<2 { _ = try await server.send(path) }
        let hit = "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
        // As often as it takes for the moment to be met
        for _ in 0..<100 {
            // When a request follows on one that is refused
            let parts = [hit + "GET / HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n", hit]
            let answer = String(
                decoding: try await SocketConnection.exchange(parts.map { Array($0.utf8) }, with: file), as: UTF8.self)
            // Then there is an answer to the one before it and a refusal, and no more: it would be taken for the refused one's
            XCTAssertEqual(answer.matches(of: /HTTP\/1\.1 200/).count, 1)
            XCTAssertEqual(answer.matches(of: /HTTP\/1\.1 400/).count, 1)
        }
    }
}
