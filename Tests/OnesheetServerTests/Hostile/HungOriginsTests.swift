import Dispatch
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetServer

/// Silent origins, and other origins that must not wait for them.
final class HungOriginsTests: ServerTestCase {
    func testThatAHundredHungOriginsKeepNobodyElseWaiting() async throws {
        // Given a hundred silent origins, each with all its slots taken and a waiting request
        var hung: [OriginServer] = []
        for _ in 0..<100 { hung.append(try await origin { _, _ in .silence }) }
        let server = try await server("limits: { originConcurrency: 1, originIdleTimeout: 60s, workers: 1, queue: 1 }")
        let asking = hung.flatMap { origin in
            ["a", "b"].map { name in
                // Each on its own connection: the few connections of a client library would be the bottleneck.
                Task {
                    let request = "GET /i/unsafe/w:60/plain/\(origin.url)/\(name)@jpg HTTP/1.1\r\nHost: h\r\n\r\n"
                    _ = try? await RawConnection.exchange([Array(request.utf8)], with: server.url, ends: false)
                }
            }
        }
        addTeardownBlock { for task in asking { task.cancel() } }
        for origin in hung { await waitWhile(origin.requests() == 0) }
        // When a working one is requested meanwhile
        let well = try await well()
        let answer = try await server.send("/i/unsafe/w:60/plain/\(well.url)/a@jpg")
        let health = try await server.send("/health")
        // Then it responds, and so do health and metrics
        XCTAssertEqual([answer.status, health.status], [200, 200])
    }

    func testThatWhatIsThereIsAnsweredWhileTheLineForRendersIsFull() async throws {
        // Given a cached picture, a render that does not end, and a full queue behind it
        let server = try await server("limits: { workers: 1, queue: 1 }")
        let well = try await well()
        let path = "/i/unsafe/w:60/plain/\(well.url)"
        let made = try await server.send("\(path)/a@jpg")
        let (pool, door) = (server.server.responder.context.pipeline.pool, DispatchSemaphore(value: 0))
        addTeardownBlock { for _ in 0..<2 { door.signal() } }
        let cost = RenderCost(milliseconds: 10, bytes: 0)
        let renders = (0..<2).map { _ in Task { try await pool.run(cost: cost) { () throws(Failure) in door.wait() } } }
        await waitWhile(pool.load < 2)
        // When an uncached picture and the cached one are requested
        let refused = try await server.send("\(path)/b@jpg")
        let hit = try await server.send("\(path)/a@jpg")
        let health = try await server.send("/health")
        // Then the first is refused with a time for a retry, and the cached one is served
        assertProblem(refused, 503, "try again")
        XCTAssertGreaterThan(refused.field("Retry-After").flatMap { Int($0) } ?? 0, 0)
        XCTAssertEqual([made.status, hit.status, health.status], [200, 200, 200])
        XCTAssertTrue(hit.field("Cache-Status")?.hasPrefix("onesheet; hit") ?? false)
        XCTAssertEqual(hit.body, made.body)
        // And after the queue is empty, the first is served too
        for _ in 0..<2 { door.signal() }
        for render in renders { try await render.value }
        let later = try await server.send("\(path)/b@jpg")
        XCTAssertEqual(later.status, 200)
    }

    func testClientThatLeavesGivesItsPlaceInTheLineBack() async throws {
        // Given a render that does not end, and a client that waits behind it
        let server = try await server("limits: { workers: 1, queue: 1 }")
        let well = try await well()
        let (pool, door) = (server.server.responder.context.pipeline.pool, DispatchSemaphore(value: 0))
        addTeardownBlock { door.signal() }
        let render = Task { try await pool.run(cost: RenderCost(milliseconds: 10, bytes: 0)) { () throws(Failure) in door.wait() } }
        await waitWhile(pool.load < 1)
        let left = Task { try await server.send("/i/unsafe/w:60/plain/\(well.url)/a@jpg") }
        await waitWhile(pool.load < 2)
        // When it closes its connection
        left.cancel()
        // Then it waits no more, although the render goes on
        await waitWhile(pool.load > 1)
        let next = Task { try await server.send("/i/unsafe/w:60/plain/\(well.url)/b@jpg") }
        await waitWhile(pool.load < 2)
        door.signal()
        try await render.value
        let answer = try await next.value
        XCTAssertEqual(answer.status, 200)
    }

    func testThatOneMoreThanMayWaitForAnOriginIsRefusedAtOnce() async throws {
        // Given a silent origin with one slot and a queue of one
        let hung = try await origin { _, _ in .silence }
        let server = try await server(
            "limits: { originConcurrency: 1, originQueue: 1, originTimeout: 60s, originIdleTimeout: 60s }")
        // When three requests come, of which one runs and one waits
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
        // Then the third is immediately refused with a time for a retry
        assertProblem(answer, 503, "try again")
        XCTAssertEqual(answer.field("Retry-After"), "2")
        // And other origins are not affected
        let well = try await well()
        let good = try await server.send("/i/unsafe/w:60/plain/\(well.url)/a@jpg")
        XCTAssertEqual(good.status, 200)
        // The one that waited gets a place beside the one that hangs, but the third was never sent.
        XCTAssertLessThan(hung.requests(), 3)
    }

    /// A server that fetches from any port of this machine.
    private func server(_ keys: String) async throws -> RunningServer {
        try await server(
            sources: "web: { type: remote, allow: [\"http://127.0.0.1:*/\"], networks: [loopback], timeout: 60s }", keys: keys)
    }

    /// A working origin.
    private func well() async throws -> OriginServer {
        let good = try Picture.jpeg()
        return try await origin { _, _ in .answer(type: "image/jpeg", body: good) }
    }
}
