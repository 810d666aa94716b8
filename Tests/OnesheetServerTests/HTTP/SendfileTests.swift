import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// Pictures that are sent from the cache's files, as a client gets them.
final class SendfileTests: ServerTestCase {
    /// Ahead of the file system's clock, so that a file just written counts as settled.
    private let clock = ManualClock(Date() + 3600)
    private let path = "/t/p/original/sample/1.jpg"

    func testThatTheBytesFromTheFileAreThoseThatWereMade() async throws {
        // Given a server without memory, whose disk has a picture that was read once
        let server = try await server(memory: "0", clock: clock.wallClock)
        let made = try await server.send(path)
        _ = try await server.send(path)
        // When it is asked for again
        let sent = try await server.send(path)
        let head = try await server.send(path, method: "HEAD")
        let known = try await server.send(path, fields: [("If-None-Match", made.field("ETag") ?? "")])
        let part = try await server.send(path, fields: [("Range", "bytes=1000-1999")])
        // Then it comes at once, the same, and so do its parts and what needs no bytes
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
            // Then every request is answered in full
            XCTAssertEqual(whole, 20 * 10)
        }
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        // Small ones are kept open for a while; this is none.
        XCTAssertEqual(links.filter { $0.hasPrefix(server.cache + "/entries/") }, [])
    }

    func testThatAPurgeHoldsAtOnceForAFileThatIsKeptOpen() async throws {
        // Given a small picture that is sent from its file again and again
        try await assertThatAPurgeHolds(memory: "0", path: "/t/p/w92/sample/1.jpg", after: 4)
    }

    func testThatAPurgeHoldsAtOnceForAnAnswerThatIsAFileOfMemory() async throws {
        for memory in ["0", "64MiB"] { try await assertThatAPurgeHolds(memory: memory, path: "/t/p/w500/sample/1.jpg", after: 30) }
    }

    private func assertThatAPurgeHolds(memory: String, path small: String, after count: Int) async throws {
        let server = try await server(keys: "admin: { token: secret }", memory: memory, clock: clock.wallClock)
        let request = Array("GET \(small) HTTP/1.1\r\nHost: test\r\n\r\n".utf8)
        // On one connection, so that one loop answers them all.
        _ = try await RawConnection.exchange(Array(repeating: request, count: count), with: server.url)
        // When it is purged
        let purged = try await server.send("/cache/sample/1", method: "DELETE", fields: [("Authorization", "Bearer secret")])
        let after = try await server.send(small)
        // Then the next request makes it anew
        XCTAssertEqual(purged.status, 200, purged.text)
        XCTAssertTrue(after.field("Cache-Status")?.contains("fwd=miss") ?? false, after.field("Cache-Status") ?? "")
    }
}
