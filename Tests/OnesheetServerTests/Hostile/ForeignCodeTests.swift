import Foundation
import NIOCore
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// Codecs and sources that block their threads.
final class ForeignCodeTests: ServerTestCase {
    private var plugins: PluginList {
        var plugins = PluginList.standard
        plugins.sources.append(HangingSource.self)
        plugins.codecs.append(HangingCodec.self)
        return plugins
    }

    func testThatASourceThatHoldsItsThreadsHoldsNobodyElses() async throws {
        // Given a hanging source with more calls than processors
        let door = try door()
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        let server = try await server(
            sources: """
                sample: { type: sample }
                stuck: { type: hang, door: "\(door)", limits: { time: 60s } }
                """, keys: "rendering: { codecs: { hang: { door: \"\(door)\" } } }", plugins: plugins)
        let asking = (0..<count).map { number in Task { try await server.send("/sources/stuck/titles/\(number)") } }
        var asked = 0
        while try await !server.send("/metrics").text.contains("onesheet_source_calls_under_way{source=\"stuck\"} \(count)"),
            asked < 10_000
        {
            asked += 1
        }
        XCTAssertLessThan(asked, 10_000, "the calls never wait")
        // When other sources and `/ready` are requested meanwhile
        var statuses: [Int] = []
        for path in ["/ready", "/health", "/metrics", "/sources/sample/titles", "/t/p/w92/sample/1.jpg"] {
            statuses.append(try await server.send(path).status)
        }
        // Then they respond
        XCTAssertEqual(statuses, [200, 200, 200, 200, 200])
        // And after it returns, all callers get responses
        letOn(door)
        for task in asking {
            let answer = try await task.value
            XCTAssertEqual(answer.status, 200)
        }
    }

    func testThatPicturesThatHangCodecsCostNobodyElseAndAreTold() async throws {
        // Given an origin with pictures that make the codec hang, on both workers
        let door = try door()
        let origin = try await origin { _, _ in .answer(type: "image/hang", body: .init(string: HangingCodec.file)) }
        let server = try await server(
            sources: "sample: { type: sample }\n\(web(origin))",
            keys: """
                rendering: { codecs: { hang: { door: "\(door)" } } }
                limits: { workers: 2, queueTime: 100ms }
                """, plugins: plugins)
        let made = try await server.send("/t/p/w92/sample/1.jpg")
        let hung = ["a", "b"].map { name in Task { try? await server.send("/i/unsafe/w:60/plain/\(origin.url)/\(name)@jpg") } }
        addTeardownBlock { for task in hung { task.cancel() } }
        let pool = server.server.responder.context.pipeline.pool
        await waitWhile(pool.load < 2)
        // When another picture is requested, a cached one, and the health
        let other = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/c@jpg")
        let hit = try await server.send("/t/p/w92/sample/1.jpg")
        let ready = try await server.send("/ready")
        let metrics = try await server.send("/metrics")
        // Then the first gets a time for a retry, and the others are served
        assertProblem(other, 503, "try again")
        XCTAssertNotNil(other.field("Retry-After"))
        XCTAssertEqual([made.status, hit.status, ready.status, metrics.status], [200, 200, 200, 200])
        for name in ["workers_stuck{lane=\"render\"} 0", "refreshes_under_way 0", "refreshes_skipped_total 0"] {
            XCTAssertTrue(metrics.text.contains("onesheet_\(name)\n"), name)
        }
        letOn(door)
    }

    func testThatAServerEndsByItsDeadlineWhateverHangs() async throws {
        // Given a hanging codec and a hanging source
        let door = try door()
        let origin = try await origin { _, _ in .answer(type: "image/hang", body: .init(string: HangingCodec.file)) }
        let server = try await server(
            sources: "stuck: { type: hang, door: \"\(door)\", limits: { time: 1h } }\n\(web(origin))",
            keys: """
                rendering: { codecs: { hang: { door: "\(door)" } } }
                shutdown: { deadline: 400ms }
                """, plugins: plugins)
        let asking = ["/i/unsafe/w:60/plain/\(origin.url)/a@jpg", "/sources/stuck/titles/1"].map { path in
            Task { try? await server.send(path) }
        }
        let context = server.server.responder.context
        await waitWhile(context.pipeline.pool.load < 1 || context.watches[0].watch.metrics.underWay < 1)
        // When the server is stopped
        XCTAssertTrue(server.server.drain())
        // Then it ends, while both still hang: otherwise this would wait for ever
        try await server.end()
        XCTAssertEqual(context.pipeline.pool.load, 1)
        XCTAssertEqual(context.watches[0].watch.metrics.underWay, 1)
        for task in asking { _ = await task.value }
    }

    /// A pipe that is opened at the end of the test at the latest.
    private func door() throws -> String {
        let folder = folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/door"
        XCTAssertEqual(mkfifo(path, 0o600), 0)
        addTeardownBlock { [self] in letOn(path) }
        return path
    }

    /// Releases all present and future threads.
    private func letOn(_ door: String) {
        // Later readers find a regular file.
        let pipe = open(door, O_RDWR | O_NONBLOCK)
        guard pipe >= 0 else { return }
        unlink(door)
        _ = FileManager.default.createFile(atPath: door, contents: nil)
        // Left open: waiting readers must find a writer.
        opened.append(pipe)
    }

    private var opened: [Int32] = []
}
