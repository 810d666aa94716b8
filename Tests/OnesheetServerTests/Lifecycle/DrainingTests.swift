import HTTPTypes
import NIOPosix
import OnesheetHTTP
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The shutdown of a server.
final class DrainingTests: ServerTestCase {
    private let admin = "admin: { token: secret-for-tests }"
    private let unfinished =
        "GET /health HTTP/1.1\r\nHost: h\r\n\r\n"
        + "POST /prefetch HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer secret-for-tests\r\nContent-Length: 4\r\n\r\nno"

    func testThatAServerIsReadyFromItsBeginningToItsEnd() throws {
        let readiness = Readiness()
        XCTAssertThrowsError(try readiness.check()) { XCTAssertEqual(($0 as? Problem)?.status, .serviceUnavailable) }
        readiness.begin()
        try readiness.check()
        XCTAssertTrue(readiness.end())
        XCTAssertThrowsError(try readiness.check())
        // A second stop has no effect, and nothing makes it ready again.
        XCTAssertFalse(readiness.end())
        readiness.begin()
        XCTAssertThrowsError(try readiness.check())
    }

    func testThatLoadBalancersAreToldBeforeConnectionsAreRefused() async throws {
        // Given a server with a shutdown delay
        let server = try await server(keys: "shutdown: { delay: 1h }")
        let before = try await server.send("/ready")
        XCTAssertEqual(before.status, 200)
        // When it is stopped
        XCTAssertTrue(server.server.drain())
        // Then it reports that and still serves
        assertProblem(try await server.send("/ready"), 503, "shutting down")
        let poster = try await server.send("/t/p/w92/sample/1.jpg")
        XCTAssertEqual(poster.status, 200)
        XCTAssertFalse(server.server.drain())
    }

    func testThatARequestUnderWayIsAnsweredAndItsConnectionThenClosed() async throws {
        // Given a request of which half has arrived
        let server = try await server(keys: admin)
        try await OpenConnection.with(server.url) { connection in
            try await connection.send(unfinished)
            _ = try await connection.read(until: "ok\n")
            // When the server is stopped, and the other half arrives
            XCTAssertTrue(server.server.drain())
            try await connection.send("pe")
            let answer = await connection.readToEnd()
            // Then it gets a response, the connection closes, and the server ends
            XCTAssertTrue(answer.hasPrefix("HTTP/1.1 400"), answer)
            try await server.end()
        }
    }

    func testThatClientsCanSendRequestsWhileTheServerStops() async throws {
        let certificate = try SelfSigned(in: folder())
        for _ in 0..<3 {
            // Given clients that send many requests at once over HTTP/2
            let server = try await server(keys: certificate.yaml)
            let (answers, answered) = AsyncStream<Void>.makeStream()
            await withTaskGroup(of: Void.self) { clients in
                for _ in 0..<8 {
                    clients.addTask { await Self.sendRequests(to: server, certificate, answered) }
                }
                for await _ in answers.prefix(10) {}
                // When the server is stopped
                await server.stop()
                // Then it ends, and so do their connections
                await clients.waitForAll()
            }
        }
    }

    /// Sends requests until the connection is closed.
    private static func sendRequests(
        to server: RunningServer, _ certificate: SelfSigned, _ answered: AsyncStream<Void>.Continuation
    ) async {
        do {
            try await RawHTTP2.with(server.url, certificate) { client in
                var first = 1
                while true {
                    try await client.send((0..<50).flatMap { RawHTTP2.headers("/health?a", on: first + 2 * $0) })
                    guard await client.next(where: { $0.stream == first }) != nil else { return }
                    answered.yield()
                    first += 100
                }
            }
        } catch {
            // The server has closed the connection.
        }
    }

    func testThatIdleConnectionsAreClosedAndNewOnesRefused() async throws {
        let server = try await server()
        try await OpenConnection.with(server.url) { connection in
            try await connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try await connection.read(until: "ok\n")
            XCTAssertTrue(server.server.drain())
            let rest = await connection.readToEnd()
            XCTAssertEqual(rest, "")
        }
        try await server.end()
        do {
            try await OpenConnection.with(server.url) { _ in XCTFail("somebody listens") }
        } catch {
            XCTAssertTrue(error is NIOConnectionError, "\(error)")
        }
    }

    func testThatWhatHangsIsCutOffAtTheDeadlineAndTheServerEndsWell() async throws {
        // Given a client that never sends the rest, and a silent origin
        let origin = try await origin { _, _ in .silence }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }",
            keys: admin + "\nshutdown: { deadline: 10ms }\nlimits: { originTimeout: 1h, originIdleTimeout: 1h }")
        try await OpenConnection.with(server.url) { connection in
            try await OpenConnection.with(server.url) { other in
                try await connection.send(unfinished)
                try await other.send(
                    "GET /health HTTP/1.1\r\nHost: h\r\n\r\nGET /i/unsafe/w:9/plain/\(origin.url)/a HTTP/1.1\r\nHost: h\r\n\r\n")
                _ = try await connection.read(until: "ok\n")
                _ = try await other.read(until: "ok\n")
                // When the server is stopped
                XCTAssertTrue(server.server.drain())
                // Then it waits for neither
                _ = await connection.readToEnd()
                _ = await other.readToEnd()
            }
        }
        try await server.end()
    }
}
