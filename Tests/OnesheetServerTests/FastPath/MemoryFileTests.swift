import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// Answers that lie in open files, asked for one after another on one connection, so that one loop answers them all.
final class MemoryFileTests: ServerTestCase {
    /// Ahead of the file system's clock, so that a file just written counts as settled.
    private let clock = ManualClock(Date() + 3600)
    private let medium = "/t/p/w500/sample/1.jpg"

    func testThatAPurgeHoldsAtOnce() async throws {
        // A small picture's own file, and files of memory, with a memory tier and without.
        for (memory, path) in [("0", "/t/p/w92/sample/1.jpg"), ("0", medium), ("64MiB", medium)] {
            let server = try await warm(memory: memory, path)
            let kept = path == medium ? OpenFiles.memory : server.cache + "/entries/"
            let before = try OpenFiles.paths(below: kept).count
            try await OpenConnection.with(server.url) { connection in
                // Given an answer that is sent from an open file
                for _ in 0..<10 { _ = try await connection.get(path) }
                XCTAssertEqual(try OpenFiles.paths(below: kept).count, before + 1)
                // When somebody purges it
                let fields = [("Authorization", "Bearer secret")]
                let purged = try await server.send("/cache/sample/1", method: "DELETE", fields: fields)
                XCTAssertEqual(purged.status, 200, purged.text)
                // Then the next request makes it anew
                let after = try await connection.get(path)
                XCTAssertTrue(after.head.contains("fwd=miss"), after.head)
            }
        }
    }

    func testThatItTellsTheTimeOfEachSecond() async throws {
        let server = try await warm(memory: "64MiB", medium)
        try await OpenConnection.with(server.url) { connection in
            // Given an answer in a file of memory, for whoever has it already too
            var answers = [try await connection.get(medium)]
            for _ in 0..<9 { answers.append(try await connection.get(medium)) }
            let tag = try XCTUnwrap(field("ETag", of: answers[0].head))
            let known = try await connection.get(medium, "If-None-Match: \(tag)")
            XCTAssertEqual(Set(answers.map(\.head)).count, 1)
            // When a second passes
            clock.advance(by: .seconds(1))
            // Then the head says so, and the body is the same
            let next = try await connection.get(medium)
            XCTAssertNotEqual(field("Date", of: next.head), field("Date", of: answers[0].head))
            XCTAssertNotEqual(field("Age", of: next.head), field("Age", of: answers[0].head))
            XCTAssertEqual(next.body, answers[0].body)
            let still = try await connection.get(medium, "If-None-Match: \(tag)")
            XCTAssertTrue([known, still].allSatisfy { $0.head.hasPrefix("HTTP/1.1 304 ") && $0.body.readableBytes == 0 })
            XCTAssertEqual(field("Date", of: still.head), field("Date", of: next.head))
        }
    }

    private func warm(memory: String, _ path: String) async throws -> RunningServer {
        let server = try await server(keys: "admin: { token: secret }", memory: memory, clock: clock.wallClock, hasFastPath: true)
        // Twice: the second reads what the first has stored, and so checks it.
        for _ in 0..<2 { _ = try await server.send(path) }
        return server
    }

    private func field(_ name: String, of head: String) -> String? {
        head.components(separatedBy: "\r\n").first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}
