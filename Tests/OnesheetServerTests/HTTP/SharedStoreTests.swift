import Foundation
import NIOCore
import OnesheetCache
import OnesheetCluster
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// Several servers with their own memory and disk that share a folder as their store.
final class SharedStoreTests: ServerTestCase {
    private let admin = [("Authorization", "Bearer secret-for-tests")]

    private func shared(_ path: String, _ more: String = "") -> String {
        "admin: { token: secret-for-tests }\nshared: { store: { type: folder, path: \"\(path)\" }\(more) }"
    }

    /// A folder that exists.
    private func newRoom() throws -> String {
        let path = folder()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func poster() async throws -> OriginServer {
        let body = try Picture.jpeg(width: 900, height: 1350)
        return try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
    }

    /// Waits until everything that was stored is in every tier.
    private func settle(_ server: RunningServer) async {
        let resources = server.server.responder.context.resources
        await resources.cache.finishStoring()
        await resources.cluster?.shared?.flush()
    }

    private func gets(_ server: RunningServer) -> Int {
        server.server.responder.context.resources.cluster?.shared?.metrics.requests["get"]?.count ?? 0
    }

    private func detail(_ answer: ServerAnswer) -> String {
        let status = answer.field("Cache-Status") ?? ""
        return status.split(separator: "detail=").last.map(String.init) ?? status
    }

    func testThatASecondServerServesWhatTheFirstMadeWithoutAskingTheOrigin() async throws {
        // Given two servers with one store, and a picture that one of them made
        let (room, origin) = (try newRoom(), try await poster())
        let path = "/i/unsafe/w:400/plain/\(origin.url)/a@jpg"
        let first = try await server(sources: web(origin), keys: shared(room))
        let second = try await server(sources: web(origin), keys: shared(room))
        let made = try await first.send(path)
        await settle(first)
        // When the other is asked for it, and for another size
        let found = try await second.send(path)
        let again = try await second.send(path)
        let other = try await second.send("/i/unsafe/w:300/plain/\(origin.url)/a@jpg")
        // Then it comes from the store, later from memory, and the origin was asked once
        XCTAssertEqual([made, found, again, other].map(\.status), [200, 200, 200, 200], made.text)
        XCTAssertEqual(found.body, made.body)
        XCTAssertEqual(found.field("ETag"), made.field("ETag"))
        XCTAssertEqual([detail(found), detail(again)], ["shared", "memory"])
        XCTAssertEqual(origin.requests(), 1)
        // And neither memory nor disk needs the store
        await settle(second)
        let before = gets(second)
        _ = await second.server.responder.context.resources.cache.memory.remove(.all)
        let fromDisk = try await second.send(path)
        let fromMemory = try await second.send(path)
        XCTAssertEqual([detail(fromDisk), detail(fromMemory)], ["disk", "memory"])
        XCTAssertEqual(gets(second), before)
        // And the metrics tell
        let metrics = try await second.send("/metrics").text
        for line in [
            "onesheet_shared_up 1", "onesheet_shared_requests_total{operation=\"get\",outcome=\"hit\"} ",
            "onesheet_shared_seconds_count{operation=\"get\"} ",
            "onesheet_shared_bytes_total{direction=\"read\"} ", "onesheet_shared_queue 0", "onesheet_shared_queue_bytes 0",
            "onesheet_shared_damaged_total 0", "onesheet_cache_hits_total{tier=\"shared\",",
        ] { XCTAssertTrue(metrics.contains("\n\(line)"), "\(line) is missing") }
    }

    func testThatAPurgeEmptiesTheStoreToo() async throws {
        // Given
        let (room, origin) = (try newRoom(), try await poster())
        let path = "/i/unsafe/w:400/plain/\(origin.url)/a@jpg"
        let server = try await server(sources: web(origin), keys: shared(room))
        _ = try await server.send(path)
        await settle(server)
        let tier = try XCTUnwrap(server.server.responder.context.resources.cluster?.shared)
        let before = try await tier.held(sources: ["web"]).sources["web"]?.entries ?? 0
        // When
        let purged = try await server.send("/cache/web", method: "DELETE", fields: admin)
        // Then
        XCTAssertEqual(purged.status, 200, purged.text)
        XCTAssertGreaterThanOrEqual(before, 2)
        let after = try await tier.held(sources: ["web"]).total.entries
        XCTAssertEqual(after, 0)
        let answer = try await server.send(path)
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(origin.requests(), 2)
    }

    func testThatDamageInTheStoreIsNeverServed() async throws {
        // Given a store in which every file is damaged in the middle
        let (room, origin) = (try newRoom(), try await poster())
        let path = "/i/unsafe/w:400/plain/\(origin.url)/a@jpg"
        let first = try await server(sources: web(origin), keys: shared(room))
        let made = try await first.send(path)
        await settle(first)
        let files = try FileManager.default.subpathsOfDirectory(atPath: room + "/onesheet").filter {
            $0.contains("/v-") || $0.contains("/o-")
        }
        XCTAssertGreaterThanOrEqual(files.count, 2)
        for file in files {
            let place = URL(fileURLWithPath: "\(room)/onesheet/\(file)")
            var bytes = try Data(contentsOf: place)
            bytes[51 + (bytes.count - 51) / 2] ^= 1
            try bytes.write(to: place)
        }
        // When another server is asked
        let second = try await server(sources: web(origin), keys: shared(room))
        let answer = try await second.send(path)
        // Then it makes the picture itself
        XCTAssertEqual(answer.body, made.body)
        XCTAssertTrue(answer.field("Cache-Status")?.contains("fwd=miss") ?? false, answer.field("Cache-Status") ?? "")
        XCTAssertEqual(origin.requests(), 2)
        let damaged = try XCTUnwrap(second.server.responder.context.resources.cluster?.shared).metrics.damaged
        XCTAssertGreaterThanOrEqual(damaged, 2)
    }

    func testThatAStoreThatCannotBeUsedCostsNoAnswer() async throws {
        // Given a folder that is not there
        let origin = try await poster()
        let server = try await server(sources: web(origin), keys: shared(folder()))
        // When
        let answers = [
            try await server.send("/i/unsafe/w:400/plain/\(origin.url)/a@jpg"),
            try await server.send("/i/unsafe/w:400/plain/\(origin.url)/b@jpg"),
        ]
        await settle(server)
        // Then
        XCTAssertEqual(answers.map(\.status), [200, 200])
        let metrics = try await server.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_shared_dropped_total{reason="), "no entry is counted as dropped")
        let ready = try await server.send("/ready")
        XCTAssertEqual(ready.status, 200)
    }

    func testThatAServerThatRequiresItsStoreDoesNotStartWithoutIt() async throws {
        let path = folder()
        do {
            _ = try await self.server(keys: shared(path, ", required: true"))
            XCTFail("it started")
        } catch {
            XCTAssertEqual(
                "\(error)",
                "shared.store: the store is not available (write): \(path) is not a folder; make it, or mount its file system")
        }
        let room = try newRoom()
        let server = try await server(keys: shared(room, ", required: true"))
        let ready = try await server.send("/ready")
        XCTAssertEqual(ready.status, 200)
    }

    func testThatWhatWaitsIsWrittenAtShutdown() async throws {
        // Given a server that has just made a picture
        let (room, origin) = (try newRoom(), try await poster())
        let server = try await RunningServer.start(sources: web(origin), keys: shared(room), cache: folder())
        _ = try await server.send("/i/unsafe/w:400/plain/\(origin.url)/a@jpg")
        // When it is stopped
        await server.stop()
        // Then the store has it
        let files = try FileManager.default.subpathsOfDirectory(atPath: room).filter { $0.contains("/v-") || $0.contains("/o-") }
        XCTAssertEqual(files.count, 2)
    }

    func testThatAConfigurationThatCannotWorkIsRefused() throws {
        let cases = [
            ("shared: { store: { type: foldr, path: a } }", "shared.store.type: unknown store type “foldr”"),
            ("shared: { store: { path: a } }", "shared.store"), ("shared: { store: { type: folder, pth: a } }", "shared.store"),
            ("shared: { store: { type: folder, path: a }, prefix: \"a b\" }", "shared.prefix"),
            ("shared: { store: { type: folder, path: a }, prefix: a/ }", "shared.prefix"),
            ("shared: { store: { type: folder, path: a }, expires: 0s }", "shared.expires"),
            ("shared: { required: true }", "shared.required"),
            ("shared: { coordinator: { type: nobody } }", "shared.coordinator.type"),
            ("shared: { stores: { type: folder } }", "shared: unknown key “stores”"),
        ]
        for (keys, problem) in cases {
            XCTAssertThrowsError(
                try {
                    let configuration = try ConfigurationFile(environment: [:]).parse(
                        RunningServer.yaml(keys: keys, cache: folder()))
                    _ = try ServerContext.examined(configuration, .standard, logger: RunningServer.silent)
                }(), keys
            ) { XCTAssertTrue("\($0)".contains(problem), "\(keys): \($0)") }
        }
    }
}
