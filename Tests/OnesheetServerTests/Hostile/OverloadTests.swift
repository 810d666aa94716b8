import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// More work than can be done: everybody gets an answer, and the server stays within its memory.
final class OverloadTests: ServerTestCase {
    func testThatFiveHundredConnectionsForLargeOriginalsAreAllAnsweredWithinTheBudget() async throws {
        // Given distinct originals of 24 megapixels, and room for a few
        let pixels = try PixelBuffer(PixelLayout(width: 4000, height: 6000, model: .gray), limits: Limits())
        let large = try JPEGCodec().encode(pixels, EncodeOptions())
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: large) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback], timeout: 60s }",
            keys: "limits: { memory: 64MiB, queue: 16, originConcurrency: 64, originTimeout: 60s }")
        let before = try Self.residentBytes()
        // When five hundred ask at once, each on a connection of its own
        let statuses = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for index in 0..<500 {
                group.addTask {
                    let request =
                        "GET /i/unsafe/w:60/plain/\(origin.url)/\(index)@jpg HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                    let answer = String(
                        decoding: try await RawConnection.exchange([Array(request.utf8)], with: server.url).prefix(2000),
                        as: UTF8.self)
                    return (Int(answer.split(separator: " ").dropFirst().first ?? "") ?? 0, answer)
                }
            }
            return try await group.reduce(into: [Int: [String]]()) { $0[$1.0, default: []].append($1.1) }
        }
        // Then each is answered: with a picture, or at once with when to come back
        XCTAssertEqual(Set(statuses.keys).subtracting([200, 503]), [])
        XCTAssertEqual(statuses.values.reduce(0) { $0 + $1.count }, 500)
        XCTAssertGreaterThan(statuses[200]?.count ?? 0, 0)
        for answer in statuses[503] ?? [] { XCTAssertTrue(answer.contains("Retry-After: "), answer) }
        // And what it took is a matter of the budget, not of how many asked: 500 decoded pictures would be 12 GB
        let after = try Self.residentBytes()
        XCTAssertLessThan(after - before, 256 << 20)
        let health = try await server.send("/health")
        XCTAssertEqual(health.status, 200)
    }

    func testThatAHundredHungOriginsDoNotSlowAGoodOne() async throws {
        // Given origins that never answer, and a good one
        let good = try Picture.jpeg()
        let hung = try await origin { _, _ in .silence }
        let well = try await origin { _, _ in .answer(type: "image/jpeg", body: good) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"http://127.0.0.1:*/\"], networks: [loopback], timeout: 60s }",
            keys: "limits: { originConcurrency: 4, originIdleTimeout: 60s, queue: 1 }")
        let waiting = (0..<100).map { index in
            // Each on a connection of its own: a client library's few would be what everybody waits for.
            Task {
                let request = "GET /i/unsafe/w:60/plain/\(hung.url)/\(index)@jpg HTTP/1.1\r\nHost: h\r\n\r\n"
                _ = try? await RawConnection.exchange([Array(request.utf8)], with: server.url)
            }
        }
        while hung.requests() < 4 { await Task.yield() }
        // When the good one is asked meanwhile
        let answer = try await server.send("/i/unsafe/w:60/plain/\(well.url)/a@jpg")
        let health = try await server.send("/health")
        // Then it answers, and so does whoever watches the server, and the hung one has no more requests than it may
        XCTAssertEqual([answer.status, health.status], [200, 200])
        XCTAssertEqual(hung.requests(), 4)
        for task in waiting { task.cancel() }
    }

    func testThatASliverEnlargedIsABombToo() async throws {
        let sliver = try Picture.jpeg(width: 1, height: 3000)
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: sliver) }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        for options in ["rs:force:30000:30000:1", "w:60000/el:1", "rs:fill:20000:20000:1", "mw:60000", "ex:1/w:30000/h:30000"] {
            let answer = try await server.send("/i/unsafe/\(options)/plain/\(origin.url)/a@jpg")
            assertProblem(answer, 400, "at most 32000000", options)
        }
    }

    /// Resident set size of this process, in which the server runs.
    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
