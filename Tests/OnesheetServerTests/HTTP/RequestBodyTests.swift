import XCTest

@testable import OnesheetServer

/// Bodies that a client holds back, or that are too long (RFC 9110 §10.1.1).
final class RequestBodyTests: ServerTestCase {
    private let token = "Authorization: Bearer secret-for-tests\r\n"

    func testBodyIsAskedForWhenItIsNeeded() async throws {
        // Given a client that waits before it sends its body
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        let body = #"{"candidate": 1}"#
        let head = "Host: test\r\nExpect: 100-Continue\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n"
        try await OpenConnection.with(server.url) { [token] connection in
            // When it sends the head
            try await connection.send("PUT /sources/sample/titles/1/poster HTTP/1.1\r\n\(head)\(token)\r\n")
            // Then it is asked for the body, and gets a response to all of it
            let interim = try await connection.read(until: "\r\n\r\n")
            XCTAssertEqual(interim.split(separator: "\r\n").first, "HTTP/1.1 100 Continue", interim)
            try await connection.send(body)
            let answer = await connection.readToEnd()
            XCTAssertTrue(answer.hasPrefix("HTTP/1.1 200 "), answer)
        }
        // And the server does not ask for a body that it does not need
        try await OpenConnection.with(server.url) { connection in
            try await connection.send("PUT /sources/sample/titles/1/poster HTTP/1.1\r\n\(head)\r\n")
            let answer = try await connection.read(until: "\r\n\r\n")
            XCTAssertTrue(answer.hasPrefix("HTTP/1.1 401 "), answer)
        }
    }

    func testBodyThatIsTooLongIsRefusedBeforeItComes() async throws {
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        for expectation in ["", "Expect: 100-continue\r\n"] {
            try await OpenConnection.with(server.url) { [token] connection in
                // When a client says that its body has 900 MB
                try await connection.send(
                    "POST /prefetch HTTP/1.1\r\nHost: test\r\nContent-Length: 900000000\r\n\(expectation)\(token)\r\n")
                // Then it is refused at once
                let answer = try await connection.read(until: "\r\n\r\n")
                XCTAssertTrue(answer.hasPrefix("HTTP/1.1 413 "), answer)
            }
        }
    }
}
