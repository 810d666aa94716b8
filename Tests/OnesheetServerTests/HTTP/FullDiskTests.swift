import OnesheetTesting
import XCTest

/// A server whose cache disk becomes full.
final class FullDiskTests: ServerTestCase {
    private let before = "/t/p/w92/sample/1.jpg"
    private let others = ["/t/p/w92/sample/2.jpg", "/t/p/w154/sample/1.png", "/t/p/original/sample/1.jpg"]

    func testThatADiskFullOfBytesCostsNoAnswer() async throws {
        let disk = try disk("size=8m")
        try await assertServes(on: disk) { try disk.fill() }
    }

    func testThatADiskFullOfInodesCostsNoAnswer() async throws {
        let disk = try disk("size=8m,nr_inodes=300")
        try await assertServes(on: disk) { disk.fillInodes() }
    }

    private func assertServes(on disk: SmallDisk, line: UInt = #line, full fill: () throws -> Void) async throws {
        // Given a server without a memory tier, with a picture on its disk, and one with a normal disk
        let server = try await server(keys: "admin: { token: secret-for-tests }", memory: "0", cache: disk.path("cache"))
        let good = try await self.server()
        _ = try await server.send(before)
        // When the disk is full
        try fill()
        let failures = try await failures(server)
        for path in [before] + others + others {
            // Then every response is the same as elsewhere
            let answer = try await server.send(path)
            let expected = try await good.send(path)
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(300))", line: line)
            XCTAssertEqual(answer.body, expected.body, path, line: line)
            XCTAssertEqual(answer.field("ETag"), expected.field("ETag"), path, line: line)
        }
        // And some failures are counted: not all, because old entries may have been evicted for new ones
        let later = try await self.failures(server)
        XCTAssertGreaterThan(later, failures, line: line)
        // When there is room again, then the cache is used again
        try disk.clear()
        for path in others {
            _ = try await server.send(path)
            let hit = try await server.send(path)
            let status = hit.field("Cache-Status") ?? ""
            XCTAssertTrue(status.hasPrefix("onesheet; hit") && status.hasSuffix("detail=disk"), "\(path) \(status)", line: line)
        }
        let last = try await self.failures(server)
        XCTAssertEqual(last, later, line: line)
    }

    /// The number of failures of the disk tier.
    private func failures(_ server: RunningServer) async throws -> Int {
        let lines = try await server.send("/metrics").text.split(separator: "\n")
        let line = lines.first { $0.hasPrefix("onesheet_cache_failures_total{tier=\"disk\"} ") }
        return try XCTUnwrap(line?.split(separator: " ").last.flatMap { Int($0) })
    }
}
