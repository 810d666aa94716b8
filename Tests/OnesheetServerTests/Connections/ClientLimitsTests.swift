import Synchronization
import XCTest

/// What clients may not do, over real connections that the server itself closes.
final class ClientLimitsTests: ServerTestCase {
    func testThatNoMoreAreServedAtOnceThanMayBeConnected() async throws {
        for limit in [1, 3] {
            // Given a server with few places
            let server = try await server(keys: "clients: { connections: \(limit) }")
            let presence = Presence()
            // When more connect at once, and each asks many times once it was answered
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { [server] in
                        try await OpenConnection.with(server.url) { connection in
                            let answer = try await connection.get("/health")
                            XCTAssertTrue(answer.head.hasPrefix("HTTP/1.1 200 "), answer.head)
                            presence.come()
                            for _ in 0..<20 { _ = try await connection.get("/health") }
                            presence.leave()
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Then all are answered, those beyond the limit only after another has left
            XCTAssertLessThanOrEqual(presence.most, limit)
        }
    }

    func testThatWhoeverKeepsTheServerWaitingIsLeft() async throws {
        let poster = "/t/p/w92/sample/1.jpg"
        for (name, clients, said, answer) in [
            ("half a head", "requestTimeout: 100ms, idleTimeout: 1h", "GET /health HTTP/1.1\r\nHost: h\r\n", ""),
            (
                "half a body", "requestTimeout: 100ms, idleTimeout: 1h",
                "POST /prefetch HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer secret\r\nContent-Length: 4\r\n\r\nno", ""
            ),
            ("nothing at all", "requestTimeout: 1h, idleTimeout: 100ms", "", ""),
            (
                "nothing after a request", "requestTimeout: 1h, idleTimeout: 100ms", "GET /health HTTP/1.1\r\nHost: h\r\n\r\n",
                "HTTP/1.1 200 "
            ),
            (
                "nothing after an early answer", "requestTimeout: 1h, idleTimeout: 100ms",
                "GET \(poster) HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 "
            ),
        ] {
            // Given a server that waits for one thing an hour, and for this no longer than a moment
            let server = try await server(keys: "admin: { token: secret }\nclients: { \(clients) }")
            try await OpenConnection.with(server.url) { connection in
                _ = try await connection.get(poster)
            }
            try await OpenConnection.with(server.url) { connection in
                // When a client says this and no more
                if !said.isEmpty { try await connection.send(said) }
                // Then the connection ends
                let rest = await connection.readToEnd()
                XCTAssertTrue(answer.isEmpty ? rest.isEmpty : rest.hasPrefix(answer), "\(name): \(rest.prefix(300))")
            }
        }
    }

    func testThatAClientThatTakesNoneOfItsAnswersMakesRoom() async throws {
        let poster = "/t/p/original/sample/1.jpg"
        for memory in ["256MiB", "0"] {
            // Given a server with one place, and a picture that it sends from memory or from a file
            let server = try await server(
                keys: "clients: { connections: 1, requestTimeout: 1h, idleTimeout: 200ms }", memory: memory)
            for _ in 0..<3 {
                // Each on a connection of its own, which may have been closed before all is read.
                try await OpenConnection.with(server.url) { connection in _ = try await connection.get(poster) }
            }
            try await OpenConnection.with(server.url) { stalled in
                // When the one who has it asks for more than any buffer holds, and reads nothing
                try await stalled.send(String(repeating: "GET \(poster) HTTP/1.1\r\nHost: h\r\n\r\n", count: 400))
                // Then the place is somebody else's in the end
                try await OpenConnection.with(server.url) { next in
                    let answer = try await next.get("/health")
                    XCTAssertTrue(answer.head.hasPrefix("HTTP/1.1 200 "), answer.head)
                }
                _ = await stalled.readToEnd()
            }
        }
    }

    /// How many are there at the same time.
    private final class Presence: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func come() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func leave() { counts.withLock { $0.now -= 1 } }
    }
}
