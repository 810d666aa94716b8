import Foundation
import NIOCore
import NIOPosix
import OnesheetCore
import Synchronization
import XCTest

@testable import OnesheetServer

/// Limits for clients, tested with real connections that the server closes.
final class ClientLimitsTests: ServerTestCase {
    func testThatNoMoreAreServedAtOnceThanMayBeConnected() async throws {
        for limit in [1, 3] {
            // Given a server with few slots
            let server = try await server(keys: "clients: { connections: \(limit) }")
            let presence = Presence()
            // When more clients connect at once, and each sends many requests in turn
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
            // Then all get responses, those beyond the limit only after another has left
            XCTAssertLessThanOrEqual(presence.most, limit)
        }
    }

    func testThatIdleConnectionsEndForNewOnes() async throws {
        // Given a server with room for 32 connections and long timeouts, and an address that keeps two more open and sends nothing
        let server = try await server(
            keys: "clients: { connections: 32, trustedProxies: [], idleTimeout: 1h, requestTimeout: 1h }")
        let url = try XCTUnwrap(URL(string: server.url))
        var idle: [any Channel] = []
        for _ in 0..<34 {
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            idle.append(try await bootstrap.connect(host: try XCTUnwrap(url.host()), port: try XCTUnwrap(url.port)).get())
        }
        // When another client connects
        try await OpenConnection.with(server.url) { connection in
            // Then it is served
            let answer = try await connection.get("/metrics")
            XCTAssertTrue(answer.head.hasPrefix("HTTP/1.1 200 "), answer.head)
            // And the oldest have been closed for it, no more than half of them
            let ended = String(buffer: answer.body).firstMatch(of: /refused_total\{reason="idle"\} (\d+)/).flatMap { Int($0.1) }
            XCTAssertTrue((3...18).contains(try XCTUnwrap(ended)), "\(ended ?? 0)")
            try await idle[0].closeFuture.get()
        }
        for channel in idle { channel.close(promise: nil) }
    }

    func testThatWhoeverKeepsTheServerWaitingIsLeft() async throws {
        let poster = "/t/p/w92/sample/1.jpg"
        for (name, clients, said, answer) in [
            ("half a head", "requestTimeout: 300ms, idleTimeout: 1h", "GET /health HTTP/1.1\r\nHost: h\r\n", ""),
            (
                "half a body", "requestTimeout: 300ms, idleTimeout: 1h",
                "POST /prefetch HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer secret-for-tests\r\nContent-Length: 4\r\n\r\nno", ""
            ),
            ("nothing at all", "requestTimeout: 1h, idleTimeout: 300ms", "", ""),
            (
                "nothing after a request", "requestTimeout: 1h, idleTimeout: 300ms", "GET /health HTTP/1.1\r\nHost: h\r\n\r\n",
                "HTTP/1.1 200 "
            ),
            (
                "nothing after an early answer", "requestTimeout: 1h, idleTimeout: 300ms",
                "GET \(poster) HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 "
            ),
        ] {
            // Given a server with one short timeout and otherwise long ones
            let server = try await server(keys: "admin: { token: secret-for-tests }\nclients: { \(clients) }")
            try await OpenConnection.with(server.url) { connection in
                _ = try await connection.get(poster)
            }
            try await OpenConnection.with(server.url) { connection in
                // When a client sends this and no more
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
            // Given a server with one slot, and a picture in memory or in a file
            let server = try await server(
                keys: "clients: { connections: 1, requestTimeout: 1h, idleTimeout: 200ms }", memory: memory)
            for _ in 0..<3 {
                // Each on its own connection, which may close before everything is read.
                try await OpenConnection.with(server.url) { connection in _ = try await connection.get(poster) }
            }
            try await OpenConnection.with(server.url) { stalled in
                // When its holder requests more than any buffer holds, and reads nothing
                try await stalled.send(String(repeating: "GET \(poster) HTTP/1.1\r\nHost: h\r\n\r\n", count: 400))
                // Then another client gets the slot in the end
                try await OpenConnection.with(server.url) { next in
                    let answer = try await next.get("/health")
                    XCTAssertTrue(answer.head.hasPrefix("HTTP/1.1 200 "), answer.head)
                }
                _ = await stalled.readToEnd()
            }
        }
    }

    func testThatAnAddressMayCauseSoManyMissesAndAnyNumberOfHits() async throws {
        // Given an address with a limit of three misses, and a proxy that names it
        let server = try await server(
            keys: """
                admin: { token: secret-for-tests }
                clients: { perAddress: { misses: 0.001, burst: 3 } }
                """)
        func ask(_ path: String, _ client: String?, token: String? = nil) async throws -> ServerAnswer {
            var fields = client.map { [("X-Forwarded-For", $0)] } ?? []
            if let token { fields.append(("Authorization", "Bearer \(token)")) }
            return try await server.send(path, fields: fields)
        }
        for width in 11...13 {
            let answer = try await ask("/i/unsafe/w:\(width)/plain/sample://1@jpg", "192.0.2.1")
            XCTAssertEqual(answer.status, 200)
        }
        // When it requests another one, titles, or a size
        let refused = try await ask("/i/unsafe/w:14/plain/sample://1@jpg", "192.0.2.1")
        // Then it gets a time for a retry
        assertProblem(refused, 429, "clients.perAddress.misses")
        XCTAssertNotNil(refused.field("Retry-After").flatMap { Int($0) })
        let titles = try await ask("/sources/sample/titles?query=never+asked", "192.0.2.1")
        assertProblem(titles, 429, "clients.perAddress.misses")
        // And it gets cached images as often as it likes
        for _ in 0..<20 {
            let hit = try await ask("/i/unsafe/w:11/plain/sample://1@jpg", "192.0.2.1")
            XCTAssertEqual(hit.status, 200)
        }
        // And all others are not limited: another address, and programs of this machine
        for client in ["192.0.2.2", nil] {
            let answer = try await ask("/i/unsafe/w:\(client == nil ? 15 : 16)/plain/sample://1@jpg", client)
            XCTAssertEqual(answer.status, 200)
        }
        // And neither is the administrator from that address
        let order = try await server.send(
            "/prefetch", method: "POST", fields: [("X-Forwarded-For", "192.0.2.1"), ("Authorization", "Bearer secret-for-tests")],
            body: "{\"source\": \"sample\", \"ids\": [\"1\", \"2\", \"3\", \"4\"], \"sizes\": [\"w92\"]}")
        XCTAssertEqual(order.status, 200, order.text)
        let metrics = try await server.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_clients_refused_total{reason=\"misses\"} 2\n"), metrics)
    }

    func testThatAnAddressMayHaveSoManyConnections() async throws {
        // Given a server without trusted proxies, so that this machine is an ordinary address
        let server = try await server(keys: "clients: { perAddress: { connections: 2 }, trustedProxies: [] }")
        try await OpenConnection.with(server.url) { first in
            let answer = try await first.get("/health")
            XCTAssertTrue(answer.head.hasPrefix("HTTP/1.1 200 "))
            try await OpenConnection.with(server.url) { second in
                _ = try await second.get("/health")
                // When a third one connects, then it is closed
                try await OpenConnection.with(server.url) { third in
                    let nothing = await third.readToEnd()
                    XCTAssertEqual(nothing, "")
                }
                // And the first two are served
                let metrics = try await second.get("/metrics")
                XCTAssertTrue(
                    String(buffer: metrics.body).contains("onesheet_clients_refused_total{reason=\"connections\"} 1\n"))
            }
        }
        // And after they have left there is room again
        var (isServed, tries) = (false, 0)
        while !isServed, tries < 10_000 {
            try await OpenConnection.with(server.url) { connection in
                do { isServed = try await connection.get("/health").head.hasPrefix("HTTP/1.1 200 ") } catch { isServed = false }
            }
            tries += 1
        }
        XCTAssertTrue(isServed)
    }

    func testThatTheConfigurationOfClientsIsHeldAgainstWhatThereIs() throws {
        let file = ConfigurationFile(environment: [:])
        func clients(_ text: String) throws -> ClientsConfiguration {
            try file.parse("clients: \(text)\nsources: { s: { type: sample } }").clients
        }
        // Given a silent connection
        let usual = try clients("{ connections: 9 }")
        XCTAssertEqual(usual.perAddress.connections, 256)
        XCTAssertEqual(usual.perAddress.misses, 20)
        XCTAssertEqual(usual.perAddress.burst, 400)
        XCTAssertEqual(usual.trustedProxies, [.loopback])
        XCTAssertEqual(usual.memory(within: Limits()), 128 << 20)
        // When a valid value is configured, then it applies
        let said = try clients("{ perAddress: { misses: 0.5 }, trustedProxies: [private, 203.0.113.0/24], memory: 64MiB }")
        XCTAssertEqual(said.perAddress.misses, 0.5)
        XCTAssertEqual(said.trustedProxies.count, 2)
        XCTAssertEqual(said.memory(within: Limits()), 64 << 20)
        // Otherwise the error names valid values
        for (text, message) in [
            ("{ perAddress: { connections: -1 } }", "clients.perAddress.connections: needs at least 1, or 0 for no limit"),
            ("{ perAddress: { misses: nan } }", "clients.perAddress.misses"),
            ("{ perAddress: { misses: -1 } }", "clients.perAddress.misses"),
            ("{ perAddress: { burst: 0 } }", "clients.perAddress.burst: needs at least 1"),
            ("{ perAddress: { mises: 1 } }", "clients.perAddress: unknown key “mises”; did you mean “misses”?"),
            (
                "{ trustedProxies: [nginx] }",
                "clients.trustedProxies.[0]: “nginx” is not public, private, loopback or a block such as"
            ),
            ("{ memory: 1KiB }", "clients.memory: needs at least 1MiB"),
        ] {
            XCTAssertThrowsError(try clients(text)) { XCTAssertTrue("\($0)".hasPrefix(message), "\($0)") }
        }
    }

    func testThatTheWordOnHTTPSIsTheNamedProxiesAlone() async throws {
        for (proxies, scheme) in [
            ("", "https"), ("clients: { trustedProxies: [loopback] }", "https"), ("clients: { trustedProxies: [] }", "http"),
        ] {
            // Given a server with settings for its proxies
            let server = try await server(keys: "dialects: [iiif]\n" + proxies)
            // When this machine claims that the client used HTTPS
            let answer = try await server.send("/iiif/3/sample%3A%2F%2F1/info.json", fields: [("X-Forwarded-Proto", "https")])
            // Then the claim counts unless other proxies are configured
            XCTAssertTrue((try answer.json()["id"] as? String)?.hasPrefix(scheme + ":") ?? false, answer.text)
        }
    }

    /// The number of concurrent connections.
    private final class Presence: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func come() { counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func leave() { counts.withLock { $0.now -= 1 } }
    }
}
