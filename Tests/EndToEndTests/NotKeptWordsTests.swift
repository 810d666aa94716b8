import Foundation
import NIOCore
import OnesheetTesting
import XCTest

/// What commands say of an image whose origin forbids to store it.
final class NotKeptWordsTests: CommandTestCase {
    func testEveryCommandSaysThatItIsNotKept() async throws {
        // Given an origin that sends no-store
        let picture = ByteBuffer(bytes: try Data(contentsOf: Program.samplePoster))
        let origin = try await OriginServer.start { _, _ in
            .answer(type: "image/jpeg", fields: ["Cache-Control": "no-store"], body: picture)
        }
        addTeardownBlock { try await origin.stop() }
        try Data("sources: { web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] } }".utf8)
            .write(to: folder.appending(path: "onesheet.yaml"))
        // When its image is prefetched, explained and checked
        let url = "\(origin.url)/a.jpg"
        let prefetch = try await run(["prefetch", "web", "--id", url, "--sizes", "w92", "--cache", "c"])
        let explain = try await run(["explain", "/i/unsafe/w:60/plain/\(url)@jpg", "--fetch", "--cache", "c"])
        let check = try await run(["sources", "check", "web", "--id", url, "--cache", "c"])
        // Then each says so, and the prefetch says how to keep it
        XCTAssertTrue(prefetch.errors.contains("1 of 1 were made, not kept: their origin forbids it"), prefetch.errors)
        XCTAssertTrue(prefetch.errors.contains("freshness: { store: always }"), prefetch.errors)
        XCTAssertTrue(explain.text.contains("not kept: its origin forbids it"), explain.text + explain.errors)
        let line = check.text.split(separator: "\n").first { $0.hasPrefix("✓ poster of") }
        XCTAssertTrue(line?.hasSuffix("not kept: its origin forbids it") ?? false, check.text + check.errors)
    }

    func testKeptImageIsNotSaidToBeForbidden() async throws {
        let prefetch = try await run(["prefetch", "sample", "--id", "1", "--sizes", "w92", "--cache", "c"])
        XCTAssertEqual(prefetch.status, 0)
        XCTAssertFalse(prefetch.errors.contains("not kept"), prefetch.errors)
    }
}
