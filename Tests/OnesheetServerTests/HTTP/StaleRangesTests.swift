import NIOCore
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// The status with which an origin answers.
private final class Status: Sendable {
    private let code = Atomic(200)
    var now: Int { code.load(ordering: .acquiring) }
    func become(_ status: Int) { code.store(status, ordering: .releasing) }
}

/// Parts of large images that are no longer fresh.
final class StaleRangesTests: ServerTestCase {
    private let clock = ManualClock()
    private let status = Status()
    private let size = 3 << 20

    func testAPartOfAStaleImageIsReadAlone() async throws {
        // Given a large original that may be served stale while it is revalidated
        let (server, path) = try await stored("max-age=60, stale-while-revalidate=600, stale-if-error=0")
        let disk = server.server.responder.context.resources.disk
        let background = server.server.responder.context.pipeline.background
        clock.advance(by: .seconds(61))
        // When its origin fails, and a part of it is asked for
        status.become(503)
        try await assertPart(server, path)
        await waitWhile(background.underWay > 0)
        // Then the refresh has read it, and until its failure is forgotten nothing does
        let before = disk.bytesRead
        for _ in 0..<8 { try await assertPart(server, path) }
        await waitWhile(background.underWay > 0)
        XCTAssertLessThan(disk.bytesRead - before, 1000)
        // And if the origin answers again, the image is fresh after another refresh
        status.become(200)
        clock.advance(by: .seconds(31))
        try await assertPart(server, path)
        await waitWhile(background.underWay > 0)
        let head = try await server.send(path, method: "HEAD")
        XCTAssertEqual(head.status, 200)
        XCTAssertEqual(head.field("Cache-Control")?.contains("max-age=0"), false, "\(head.fields)")
    }

    func testAPartOfAnImageThatStandsInIsReadAlone() async throws {
        // Given a large original that may be served stale if its origin fails, which it does
        let (server, path) = try await stored("max-age=60, stale-while-revalidate=0, stale-if-error=600")
        let disk = server.server.responder.context.resources.disk
        clock.advance(by: .seconds(61))
        status.become(503)
        try await assertPart(server, path)
        // When parts and heads are asked for while the failure is remembered
        let before = disk.bytesRead
        for _ in 0..<8 { try await assertPart(server, path) }
        let head = try await server.send(path, method: "HEAD")
        // Then no more is read than is sent, and each says that it is stale
        XCTAssertLessThan(disk.bytesRead - before, 1000)
        XCTAssertEqual(head.field("Cache-Status"), "onesheet; fwd=stale; detail=stale-if-error")
        XCTAssertEqual(head.field("Content-Length"), "\(size)")
        // And a refusal serves none of it
        status.become(400)
        clock.advance(by: .seconds(31))
        for _ in 0..<2 {
            let refused = try await server.send(path, fields: [("Range", "bytes=0-0")])
            XCTAssertEqual(refused.status, 502, refused.text)
        }
    }

    private func assertPart(_ server: RunningServer, _ path: String) async throws {
        let part = try await server.send(path, fields: [("Range", "bytes=0-1")])
        XCTAssertEqual(part.status, 206, part.text)
        XCTAssertEqual(part.field("Content-Range"), "bytes 0-1/\(size)")
        XCTAssertEqual(part.body.readableBytes, 2)
    }

    /// A server that has a large original on its disk only.
    private func stored(_ cacheControl: String) async throws -> (RunningServer, path: String) {
        var picture = try Picture.jpeg(width: 90, height: 135)
        // What follows the end of a JPEG is ignored.
        picture.writeRepeatingByte(0, count: size - picture.readableBytes)
        let origin = try await origin { [status, picture] _, _ in
            guard status.now == 200 else { return .answer(status: status.now) }
            return .answer(type: "image/jpeg", fields: ["Cache-Control": cacheControl, "ETag": "\"a\""], body: picture)
        }
        let server = try await server(sources: web(origin), memory: "1MiB", clock: clock.wallClock)
        let path = "/i/unsafe/plain/web://\(PercentEncoding.encode("\(origin.url)/1"))"
        try await untilCached {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, answer.text)
            await server.finishStoring()
            return try await server.send(path, fields: [("Range", "bytes=0-0")]).field("Cache-Status")?.contains("hit") ?? false
        }
        return (server, path)
    }
}
