import Dispatch
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetServer

/// Origins that never answer, and others that have to wait for none of them.
final class HungOriginsTests: ServerTestCase {
    func testThatAHundredHungOriginsKeepNobodyElseWaiting() async throws {
        // Given a hundred origins that never answer, each with as many requests as it may have and one that waits
        var hung: [OriginServer] = []
        for _ in 0..<100 { hung.append(try await origin { _, _ in .silence }) }
        let server = try await server("limits: { originConcurrency: 1, originIdleTimeout: 60s, workers: 1, queue: 1 }")
        let asking = hung.flatMap { origin in
            ["a", "b"].map { name in
                // Each on a connection of its own: a client library's few would be what everybody waits for.
                Task {
                    let request = "GET /i/unsafe/w:60/plain/\(origin.url)/\(name)@jpg HTTP/1.1\r\nHost: h\r\n\r\n"
                    _ = try? await RawConnection.exchange([Array(request.utf8)], with: server.url)
                }
            }
        }
        addTeardownBlock { for task in asking { task.cancel() } }
        for origin in hung { await waitWhile(origin.requests() == 0) }
        // When a good one is asked meanwhile
        let well = try await well()
        let answer = try await server.send("/i/unsafe/w:60/plain/\(well.url)/a@jpg")
        let health = try await server.send("/health")
        // Then it answers, and so does whoever watches the server, and no hung one has more requests than it may
        XCTAssertEqual([answer.status, health.status], [200, 200])
        XCTAssertEqual(Set(hung.map { $0.requests() }), [1])
    }

    func testThatWhatIsThereIsAnsweredWhileTheLineForRendersIsFull() async throws {
        // Given a picture that is there, a render that does not end, and as many behind it as may wait
        let server = try await server("limits: { workers: 1, queue: 1 }")
        let well = try await well()
        let path = "/i/unsafe/w:60/plain/\(well.url)"
        let made = try await server.send("\(path)/a@jpg")
        let (pool, door) = (server.server.responder.context.pipeline.pool, DispatchSemaphore(value: 0))
        addTeardownBlock { for _ in 0..<2 { door.signal() } }
        let renders = (0..<2).map { _ in Task { try await pool.run { () throws(PipelineError) in door.wait() } } }
        await waitWhile(pool.load < 2)
        // When one that is not there is asked for, and what is there
        let refused = try await server.send("\(path)/b@jpg")
        let hit = try await server.send("\(path)/a@jpg")
        let health = try await server.send("/health")
        // Then the first is refused with when to come back, and the others are answered
        assertProblem(refused, 503, "try again")
        XCTAssertGreaterThan(refused.field("Retry-After").flatMap { Int($0) } ?? 0, 0)
        XCTAssertEqual([made.status, hit.status, health.status], [200, 200, 200])
        XCTAssertTrue(hit.field("Cache-Status")?.hasPrefix("onesheet; hit") ?? false)
        XCTAssertEqual(hit.body, made.body)
        // And when the line is empty again, so is that
        for _ in 0..<2 { door.signal() }
        for render in renders { try await render.value }
        let later = try await server.send("\(path)/b@jpg")
        XCTAssertEqual(later.status, 200)
    }

    func testThatOneMoreThanMayWaitForAnOriginIsRefusedAtOnce() async throws {
        // Given a hung origin that may have one request, and one in line
        let hung = try await origin { _, _ in .silence }
        let server = try await server(
            "limits: { originConcurrency: 1, originQueue: 1, originTimeout: 60s, originIdleTimeout: 60s }")
        // When three ask, of whom one is under way and one waits
        let asking = ["a", "b", "c"].map { name in
            Task { try await server.send("/i/unsafe/w:60/plain/\(hung.url)/\(name)@jpg") }
        }
        addTeardownBlock { for task in asking { task.cancel() } }
        let answer = try await withThrowingTaskGroup(of: ServerAnswer.self) { group in
            for task in asking { group.addTask { try await task.value } }
            let first = try await group.next()
            for task in asking { task.cancel() }
            return try XCTUnwrap(first)
        }
        // Then the third is told at once when to come back
        assertProblem(answer, 503, "try again")
        XCTAssertEqual(answer.field("Retry-After"), "2")
        // And others do not notice
        let well = try await well()
        let good = try await server.send("/i/unsafe/w:60/plain/\(well.url)/a@jpg")
        XCTAssertEqual(good.status, 200)
        XCTAssertEqual(hung.requests(), 1)
    }

    /// A server that fetches from any port of this machine.
    private func server(_ keys: String) async throws -> RunningServer {
        try await server(
            sources: "web: { type: remote, allow: [\"http://127.0.0.1:*/\"], networks: [loopback], timeout: 60s }", keys: keys)
    }

    /// An origin as it should be.
    private func well() async throws -> OriginServer {
        let good = try Picture.jpeg()
        return try await origin { _, _ in .answer(type: "image/jpeg", body: good) }
    }
}
