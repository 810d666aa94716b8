import NIOCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// Faulty origins: each fault has its response, no bad response is cached, and the poster is served once the origin works again.
final class OriginMisbehaviourTests: ServerTestCase {
    func testThatEveryMisbehaviourEndsAsTheTableSays() async throws {
        // Given a server with little patience
        let good = try Picture.jpeg()
        let clock = ManualClock()
        let places = [
            "http://127.0.0.1:*/", "http://169.254.169.254/", "http://10.0.0.1/", "http://[::ffff:10.0.0.1]/", "http://[::1]/",
        ]
        let server = try await server(
            sources:
                "web: { type: remote, allow: [\(places.map { "\"\($0)\"" }.joined(separator: ", "))], networks: [\"127.0.0.1/32\"], timeout: 2s }",
            keys: "limits: { originBytes: 1MiB, originIdleTimeout: 300ms }", clock: clock.wallClock)
        let rows = OriginMisbehaviours(good: good).rows
        XCTAssertGreaterThanOrEqual(rows.count, 40)
        for row in rows {
            // When an origin has this fault
            let isWell = Mutex(false)
            let origin = try await origin { target, fields in
                isWell.withLock { $0 } ? .answer(type: "image/jpeg", body: good) : row.answer(target, fields)
            }
            let path = "/i/unsafe/w:60/plain/\(origin.url)/a@jpg"
            let answer = try await server.send(path)
            // Then the response names it, or the fault is harmless
            XCTAssertEqual(answer.status, row.status, "\(row.name) \(answer.text.prefix(300))")
            XCTAssertNil(answer.field("Set-Cookie"), row.name)
            XCTAssertNil(answer.field("Location"), row.name)
            if row.status != 200 {
                XCTAssertEqual(answer.field("Content-Type"), "application/problem+json", row.name)
                XCTAssertEqual(answer.field("Cache-Control"), "no-store", row.name)
            }
            // And it has no effect after the origin works again
            isWell.withLock { $0 = true }
            clock.advance(by: .seconds(700))
            let later = try await server.send(path)
            XCTAssertEqual(later.status, 200, "\(row.name) \(later.text.prefix(300))")
            if row.status != 200 { XCTAssertEqual(later.field("Cache-Status"), "onesheet; fwd=miss; stored", row.name) }
        }
    }

    func testThatNeitherSideSeesTheOthersSecrets() async throws {
        // Given an origin that sets a cookie and checks for fields that it should not get
        let good = try Picture.jpeg()
        let seen = Mutex<[[String: String]]>([])
        let origin = try await origin { _, fields in
            seen.withLock { $0.append(fields) }
            return .answer(type: "image/jpeg", fields: ["Set-Cookie": "a=b", "X-Secret": "origin", "Server": "origin"], body: good)
        }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        // When a client with secrets sends two requests
        for name in ["a", "b"] {
            let answer = try await server.send(
                "/i/unsafe/w:60/plain/\(origin.url)/\(name)@jpg",
                fields: [
                    ("Cookie", "session=1"), ("Authorization", "Bearer client"), ("Proxy-Authorization", "x"), ("X-Mine", "client"),
                ])
            // Then no secrets pass in either direction
            XCTAssertEqual(answer.status, 200)
            for field in ["Set-Cookie", "X-Secret"] { XCTAssertNil(answer.field(field), field) }
            XCTAssertNotEqual(answer.field("Server"), "origin")
        }
        for fields in seen.withLock({ $0 }) {
            for field in ["cookie", "authorization", "proxy-authorization", "x-mine"] { XCTAssertNil(fields[field], field) }
            XCTAssertEqual(fields["accept-encoding"], "identity")
        }
    }
}
