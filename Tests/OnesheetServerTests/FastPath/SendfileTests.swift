import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// Pictures that are sent from the cache's files, seen by a client.
final class SendfileTests: ServerTestCase {
    /// Ahead of the file system's clock, so that a new file counts as settled.
    private let clock = ManualClock(Date() + 3600)
    private let path = "/t/p/original/sample/1.jpg"

    func testThatTheBytesFromTheFileAreThoseThatWereMade() async throws {
        // Given a server without a memory tier, whose disk has a picture that was read once
        let server = try await server(memory: "0", clock: clock.wallClock, hasFastPath: true)
        let made = try await server.send(path)
        await server.finishStoring()
        _ = try await server.send(path)
        // When it is requested again. While a write holds the index, the response takes the ordinary way.
        var sent = try await server.send(path)
        for _ in 0..<20 where sent.field("Server-Timing") != "cache;dur=0.0" { sent = try await server.send(path) }
        let head = try await server.send(path, method: "HEAD")
        let known = try await server.send(path, fields: [("If-None-Match", made.field("ETag") ?? "")])
        let part = try await server.send(path, fields: [("Range", "bytes=1000-1999")])
        // Then the response is immediate and equal, and so are ranges and bodiless responses
        XCTAssertEqual(sent.field("Server-Timing"), "cache;dur=0.0", "not from the file")
        XCTAssertEqual(sent.body, made.body)
        XCTAssertEqual(sent.field("Content-Length"), "\(made.body.readableBytes)")
        XCTAssertEqual([head.status, known.status, part.status], [200, 304, 206])
        XCTAssertEqual(head.field("Content-Length"), sent.field("Content-Length"))
        XCTAssertEqual(part.body, made.body.getSlice(at: 1000, length: 1000))
    }

    func testThatManyAtOnceGetAllBytesAndNoFileStaysOpen() async throws {
        let server = try await server(memory: "0", clock: clock.wallClock)
        let made = try await server.send(path)
        _ = try await server.send(path)
        let request = "GET \(path) HTTP/1.1\r\nHost: test\r\n"
        // Given connections with ten requests each
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                let bytes = Array((String(repeating: request + "\r\n", count: 9) + request + "Connection: close\r\n\r\n").utf8)
                group.addTask {
                    try await RawConnection.exchange([bytes], with: server.url, ends: false).count / made.body.readableBytes
                }
            }
            var whole = 0
            for try await answers in group { whole += answers }
            // Then every response is complete
            XCTAssertEqual(whole, 20 * 10)
        }
        // Small ones are kept open for a while; this is not one.
        XCTAssertEqual(try OpenFiles.paths(below: server.cache + "/entries/"), [])
    }
}
