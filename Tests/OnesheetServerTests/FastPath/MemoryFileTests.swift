import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// Responses from open files, requested in turn on one connection, so that one event loop sends them all.
final class MemoryFileTests: ServerTestCase {
    /// Ahead of the file system's clock, so that a new file counts as settled.
    private let clock = ManualClock(Date() + 3600)
    private let medium = "/t/p/w500/sample/1.jpg"

    func testThatAPurgeHoldsAtOnce() async throws {
        // A file of a small picture, and in-memory files, with and without a memory tier.
        for (memory, path, purge) in [
            ("0", "/t/p/w92/sample/1.jpg", "/cache/sample/1"), ("0", medium, "/cache/sample/1"),
            ("64MiB", medium, "/cache/sample/1"),
            ("0", "/t/p/w92/sample/1.jpg", "/cache/?all"), ("0", medium, "/cache/?all"), ("64MiB", medium, "/cache/?all"),
        ] {
            let server = try await warm(memory: memory, path)
            let kept = path == medium ? OpenFiles.memory : server.cache + "/entries/"
            let before = try OpenFiles.paths(below: kept).count
            try await OpenConnection.with(server.url) { connection in
                // Given a response from an open file
                for _ in 0..<10 { _ = try await connection.get(path) }
                XCTAssertEqual(try OpenFiles.paths(below: kept).count, before + 1)
                // When it is purged
                let fields = [("Authorization", "Bearer secret-for-tests")]
                let purged = try await server.send(purge, method: "DELETE", fields: fields)
                XCTAssertEqual(purged.status, 200, purged.text)
                // Then the next request makes it again
                let after = try await connection.get(path)
                XCTAssertTrue(after.head.contains("fwd=miss"), "\(path) \(purge): \(after.head)")
            }
        }
    }

    func testThatItTellsTheTimeOfEachSecond() async throws {
        let server = try await warm(memory: "64MiB", medium)
        try await OpenConnection.with(server.url) { connection in
            // Given a response from an in-memory file that other clients still receive
            var answers = [try await connection.get(medium)]
            for _ in 0..<9 { answers.append(try await connection.get(medium)) }
            let tag = try XCTUnwrap(field("ETag", of: answers[0].head))
            let known = try await connection.get(medium, "If-None-Match: \(tag)")
            XCTAssertEqual(Set(answers.map(\.head)).count, 1)
            // When a second passes
            clock.advance(by: .seconds(1))
            // Then the head has the new date, and the body is the same
            let next = try await connection.get(medium)
            XCTAssertNotEqual(field("Date", of: next.head), field("Date", of: answers[0].head))
            XCTAssertEqual(next.body, answers[0].body)
            let still = try await connection.get(medium, "If-None-Match: \(tag)")
            XCTAssertTrue([known, still].allSatisfy { $0.head.hasPrefix("HTTP/1.1 304 ") && $0.body.readableBytes == 0 })
            XCTAssertEqual(field("Date", of: still.head), field("Date", of: next.head))
        }
    }

    private func warm(memory: String, _ path: String) async throws -> RunningServer {
        let server = try await server(
            keys: "admin: { token: secret-for-tests }", memory: memory, clock: clock.wallClock, hasFastPath: true)
        // Twice: the second request reads the stored entry and thereby checks it.
        for _ in 0..<2 {
            _ = try await server.send(path)
            await server.finishStoring()
        }
        return server
    }

    private func field(_ name: String, of head: String) -> String? {
        head.components(separatedBy: "\r\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}
