import NIOCore
import XCTest

@testable import OnesheetServer

/// Every request has an id for the log.
final class RequestIDTests: ServerTestCase {
    func testThatAProblemNamesItsRequestAndSoDoesTheLog() async throws {
        // Given a server with a log
        let lines = LogLines()
        let server = try await server(logger: lines.logger(.json))
        // When a request fails
        let answer = try await server.send("/t/p/w1/sample/1.jpg")
        // Then its response and the log have the same id
        let id = try XCTUnwrap(answer.field("X-Request-Id"))
        XCTAssertEqual(id.count, 16)
        XCTAssertEqual(try answer.json()["request"] as? String, id)
        let about = lines.all.filter { $0.contains("\"request\":\"\(id)\"") }
        XCTAssertTrue(about.contains { $0.contains("w1") && $0.contains("\"level\":\"info\"") }, "\(lines.all)")
        XCTAssertTrue(about.contains { $0.contains("\"status\":\"400\"") }, "\(lines.all)")
    }

    func testThatAClientsOwnNameIsKept() async throws {
        let lines = LogLines()
        let server = try await server(logger: lines.logger(.json))
        for (path, status) in [("/t/p/w92/sample/1.jpg?x", 200), ("/t/p/w1/sample/1.jpg", 400), ("/nowhere", 404)] {
            let answer = try await server.send(path, fields: [("X-Request-Id", "Root=1-ab:c/d+e@f")])
            XCTAssertEqual(answer.status, status)
            XCTAssertEqual(answer.field("X-Request-Id"), status == 200 ? nil : "Root=1-ab:c/d+e@f")
        }
        XCTAssertTrue(lines.all.contains { $0.contains("\"request\":\"Root=1-ab:c/d+e@f\"") }, "\(lines.all)")
    }

    func testThatANameThatCouldDoHarmIsReplaced() async throws {
        let server = try await server()
        for name in ["", "a b", "a\"b", "<b>", "한", "a;b", String(repeating: "a", count: 129)] {
            let answer = try await server.send("/nowhere", fields: [("X-Request-Id", name)])
            XCTAssertEqual(answer.field("X-Request-Id")?.count, 16, name)
        }
    }

    func testThatAPictureIsTheSameUnderEveryName() async throws {
        // Given a picture in memory
        let server = try await server()
        let path = "/t/p/w92/sample/1.jpg"
        for _ in 0..<2 { _ = try await server.send(path) }
        // When it is requested with and without an id, as by a proxy and a browser
        let named = "GET \(path) HTTP/1.1\r\nHost: h\r\nX-Request-Id: a\r\n\r\n"
        // Then memory serves both
        XCTAssertNotNil(SimpleRequest(ByteBuffer(string: named)))
        for fields in [[("X-Request-Id", "a")], []] {
            let answer = try await server.send(path, fields: fields)
            XCTAssertNil(answer.field("X-Request-Id"))
        }
    }
}
