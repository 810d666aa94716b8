import Foundation
import NIOCore
import OnesheetAddress
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Damage to files of the cache while the server runs, even while it sends them.
final class DamagedCacheTests: ServerTestCase {
    /// Ahead of the file system's clock, so that a new file counts as settled.
    private let clock = ManualClock(Date() + 3600)

    private let damages: [(name: String, change: (inout Data) -> Void)] = [
        ("another first byte", { $0[0] ^= 1 }), ("another byte in the middle", { $0[$0.count / 2] ^= 0x80 }),
        ("another last byte", { $0[$0.count - 1] ^= 1 }), ("nothing left", { $0 = Data() }),
        ("one byte less", { $0.removeLast() }), ("half", { $0.removeLast($0.count / 2) }), ("one byte more", { $0.append(0) }),
        ("zeros", { $0 = Data(count: $0.count) }),
    ]

    func testThatNoDamagedByteIsEverSent() async throws {
        for (name, path, origin) in try await pictures() {
            let server = try await server(sources: web(origin), memory: "0", clock: clock.wallClock, hasFastPath: true)
            try await OpenConnection.with(server.url) { connection in
                // Given a picture that is sent from a file that counts as intact
                let made = try await connection.get(path)
                for damage in damages {
                    try await self.warm(path, of: server, connection: &connection, "\(name): \(damage.name)")
                    let (fetched, found) = (origin.requests(), try await damaged(server))
                    // When all files are damaged, with their old timestamps
                    for file in try files(server) { try overwrite(file, damage.change) }
                    let after = try await connection.get(path)
                    // Then it is made again with the same bytes, and the damage is counted
                    XCTAssertTrue(after.head.contains("Cache-Status: onesheet; fwd=miss; stored\r\n"), after.head)
                    XCTAssertEqual(after.body, made.body, "\(name): \(damage.name)")
                    XCTAssertEqual(origin.requests(), fetched + 1, "\(name): \(damage.name)")
                    let now = try await damaged(server)
                    XCTAssertGreaterThanOrEqual(now, found + 2, "\(name): \(damage.name)")
                }
            }
        }
    }

    func testThatFilesThatHaveChangedPlacesAreNotTakenForEachOther() async throws {
        let body = try Picture.jpeg(width: 900, height: 1350)
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: web(origin), memory: "0", clock: clock.wallClock, hasFastPath: true)
        let paths = ["/i/unsafe/w:60/plain/\(origin.url)/a@jpg", "/i/unsafe/w:400/plain/\(origin.url)/a@jpg"]
        try await OpenConnection.with(server.url) { connection in
            // Given two pictures that are sent from checked files
            var made: [ByteBuffer] = []
            for path in paths {
                made.append(try await connection.get(path).body)
                try await warm(path, of: server, connection: &connection, path)
            }
            XCTAssertNotEqual(made[0], made[1])
            let found = try await damaged(server)
            // When all files are swapped
            let files = try files(server)
            XCTAssertGreaterThanOrEqual(files.count, 3)
            for file in files { try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("moved")) }
            for (file, place) in zip(files, files.dropFirst() + files.prefix(1)) {
                try FileManager.default.moveItem(at: file.appendingPathExtension("moved"), to: place)
            }
            // Then each request still gets its own picture
            for (path, body) in zip(paths, made) {
                let after = try await connection.get(path)
                XCTAssertTrue(after.head.contains("Cache-Status: onesheet; fwd=miss; stored\r\n"), after.head)
                XCTAssertEqual(after.body, body, path)
            }
            let now = try await damaged(server)
            XCTAssertGreaterThanOrEqual(now, found + 3)
        }
    }

    /// Pictures that an event loop reads, that become in-memory files, and that are sent from the cache's file.
    private func pictures() async throws -> [(name: String, path: String, origin: OriginServer)] {
        let body = try Picture.jpeg(width: 900, height: 1350)
        XCTAssertGreaterThan(body.readableBytes, 128 << 10)
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        return [
            ("small", "/i/unsafe/w:60/plain/\(origin.url)/a@jpg", origin),
            ("medium", "/i/unsafe/w:300/plain/\(origin.url)/a@jpg", origin),
            ("large", "/t/p/original/web/\(PercentEncoding.encode(id: origin.url + "/a"))", origin),
        ]
    }

    /// Requests `path` until it is served immediately from a file that counts as intact.
    private func warm(
        _ path: String, of server: RunningServer, connection: inout OpenConnection, _ context: String
    ) async throws {
        _ = try await connection.get(path)
        await server.finishStoring()
        // The next request checks the file. On a busy machine the page cache may need another one.
        for _ in 0..<100 {
            let answer = try await connection.get(path)
            XCTAssertTrue(answer.head.contains("; detail=disk\r\n"), "\(context): \(answer.head)")
            if answer.head.contains("Server-Timing: cache;dur=0.0\r\n") { return }
        }
        XCTFail("\(context): not served immediately")
    }

    private func files(_ server: RunningServer) throws -> [URL] {
        let folder = server.cache + "/entries"
        return try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().map { URL(filePath: "\(folder)/\($0)") }
            .filter { $0.lastPathComponent.count == 32 }
    }

    /// Changes the file in place, and sets back its modification time.
    private func overwrite(_ file: URL, _ change: (inout Data) -> Void) throws {
        let written = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate]
        var data = try Data(contentsOf: file)
        change(&data)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: try XCTUnwrap(written)], ofItemAtPath: file.path)
    }

    /// The number of damaged files that the disk tier has found.
    private func damaged(_ server: RunningServer) async throws -> Int {
        let name = #"onesheet_cache_damaged_total{tier="disk",source="web"} "#
        let line = try await server.send("/metrics").text.split(separator: "\n").first { $0.hasPrefix(name) }
        return Int(try XCTUnwrap(line).dropFirst(name.count)) ?? -1
    }
}
