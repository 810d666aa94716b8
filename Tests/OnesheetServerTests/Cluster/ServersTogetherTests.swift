import Foundation
import NIOCore
import OnesheetCache
import OnesheetCluster
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// Several servers with one coordinator and one store, and an origin that counts.
final class ServersTogetherTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]
    private let engines = UUID().uuidString
    private var coordinator: FakeCoordinator { TestEngines.named(engines).coordinator }

    func testThatAPurgeOnOneServerIsSeenByTheOther() async throws {
        // Given two servers that have a picture in memory and on their disks
        let (origin, picture) = try await changingOrigin()
        let (first, second) = (try await member(origin), try await member(origin))
        let path = path(origin)
        let old = try await first.send(path).body
        let same = try await second.send(path).body
        XCTAssertEqual(old, same)
        // When the picture changes, and one of them is told to purge it
        picture.change()
        let purged = try await first.send("/cache/web", method: "DELETE", fields: administrator)
        XCTAssertEqual(purged.status, 200, purged.text)
        let new = try await first.send(path).body
        // Then the other has the new one too, and nobody the old one again
        XCTAssertNotEqual(new, old)
        try await waitUntil { try await second.send(path).body == new }
        let again = try await [first.send(path).body, second.send(path).body]
        XCTAssertEqual(again, [new, new])
        let metrics = try await second.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_purges_received_total 1\n"), metrics)
        XCTAssertEqual(coordinator.records(of: "onesheet/purges").count, 1, "the names in the coordinator have no prefix")
    }

    func testThatAServerThatWasDownServesNothingThatWasPurgedMeanwhile() async throws {
        // Given a server that has stopped with a picture on its disk
        let (origin, picture) = try await changingOrigin()
        let folder = folder()
        let (first, away) = (try await member(origin), try await member(origin, cache: folder))
        let path = path(origin)
        let old = try await away.send(path).body
        await away.stop()
        // When the picture is purged meanwhile, and the server comes back
        picture.change()
        let purged = try await first.send("/cache/web", method: "DELETE", fields: administrator)
        XCTAssertEqual(purged.status, 200, purged.text)
        let back = try await member(origin, cache: folder)
        // Then its first answer is the new one
        let new = try await back.send(path)
        XCTAssertEqual(new.status, 200, new.text)
        XCTAssertNotEqual(new.body, old)
    }

    func testThatThreeServersFetchAColdPictureOnce() async throws {
        // Given three servers without the picture
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let servers = [try await member(origin), try await member(origin), try await member(origin)]
        let path = path(origin)
        // When all are asked at once, in several sizes
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for server in servers {
                for width in [10, 20, 30] {
                    group.addTask { try await server.send(path.replacing("w:60", with: "w:\(width)")).status }
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        // Then one of them fetches it
        XCTAssertEqual(Set(statuses), [200])
        XCTAssertEqual(origin.requests(), 1)
        var taken = 0
        for server in servers {
            let metrics = try await server.send("/metrics").text
            if metrics.contains("onesheet_lease_taken_total 1\n") { taken += 1 }
            XCTAssertTrue(metrics.contains("onesheet_lease_alone_total 0\n"), metrics)
        }
        XCTAssertEqual(taken, 1)
    }

    func testThatAColdPictureCostsTwoReadsOfTheStore() async throws {
        // Given a server whose store has nothing
        let (origin, _) = try await changingOrigin()
        let server = try await member(origin)
        let before = try await requests("get", server)
        // When it makes a picture
        let made = try await server.send(path(origin))
        XCTAssertEqual(made.status, 200, made.text)
        // Then it has looked there for the variant and for the original, and for nothing else
        let after = try await requests("get", server)
        XCTAssertEqual(after - before, 2)
    }

    func testThatAColdPictureCostsTwoWritesAndItsNextSizeOne() async throws {
        // Given a server whose store has nothing
        let (origin, _) = try await changingOrigin()
        let server = try await member(origin)
        let tier = try XCTUnwrap(server.server.responder.context.resources.cluster?.shared)
        var written = [try await requests("put", server)]
        // When it makes a picture in two sizes
        for width in [60, 50] {
            let made = try await server.send(path(origin).replacing("w:60", with: "w:\(width)"))
            XCTAssertEqual(made.status, 200, made.text)
            await tier.flush()
            written.append(try await requests("put", server))
        }
        // Then it has written the original and the variant, and then a variant
        XCTAssertEqual(written[1] - written[0], 2, "\(written)")
        XCTAssertEqual(written[2] - written[1], 1, "\(written)")
    }

    /// The requests to the store.
    private func requests(_ operation: String, _ server: RunningServer) async throws -> Int {
        try await server.send("/metrics").text.split(separator: "\n")
            .filter { $0.hasPrefix("onesheet_shared_requests_total{operation=\"\(operation)\"") }
            .reduce(0) { $0 + (Int($1.split(separator: " ").last ?? "") ?? 0) }
    }

    func testThatAPurgeThatCannotBeToldIsDoneHereAndToldLater() async throws {
        // Given two servers with a picture, and a coordinator that is down
        let (origin, picture) = try await changingOrigin()
        let (first, second) = (try await member(origin), try await member(origin))
        let path = path(origin)
        let old = try await first.send(path).body
        _ = try await second.send(path)
        picture.change()
        coordinator.isUnreachable = true
        // When one is told to purge it
        let purged = try await first.send("/cache/web", method: "DELETE", fields: administrator)
        // Then it says whom it did not reach, has done so itself, and the other serves on
        assertProblem(purged, 503, "the other servers are told once it can be reached again")
        let here = try await first.send(path)
        let there = try await second.send(path)
        XCTAssertNotEqual(here.body, old)
        XCTAssertEqual(there.body, old)
        let metrics = try await first.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_purge_outbox 1\n"), metrics)
        // And the other purges it once the coordinator is back
        coordinator.isUnreachable = false
        try await waitUntil { try await second.send(path).body == here.body }
        try await waitUntil { try await first.send("/metrics").text.contains("onesheet_purge_outbox 0\n") }
    }

    func testThatWithoutTheCoordinatorServersStartAndServe() async throws {
        coordinator.isUnreachable = true
        let (origin, _) = try await changingOrigin()
        let server = try await member(origin)
        let answer = try await server.send(path(origin))
        let ready = try await server.send("/ready")
        XCTAssertEqual([answer.status, ready.status], [200, 200])
    }

    // MARK: Parts

    private func member(_ origin: OriginServer, cache: String? = nil) async throws -> RunningServer {
        let engine = "{ type: test, name: \"\(engines)\" }"
        return try await server(
            sources: web(origin), keys: "admin: { token: secret-for-tests }\nshared: { store: \(engine), coordinator: \(engine) }",
            cache: cache, plugins: .withEngines)
    }

    private func path(_ origin: OriginServer) -> String { "/i/unsafe/w:60/plain/\(origin.url)/a@jpg" }

    /// A picture that changes.
    private final class ChangingPicture: Sendable {
        private let bodies: [ByteBuffer]
        private let isChanged = Mutex(false)
        init(_ bodies: [ByteBuffer]) { self.bodies = bodies }
        var body: ByteBuffer { bodies[isChanged.withLock { $0 } ? 1 : 0] }
        func change() { isChanged.withLock { $0 = true } }
    }

    private func changingOrigin() async throws -> (OriginServer, ChangingPicture) {
        let picture = ChangingPicture([try Picture.jpeg(), try Picture.jpeg(width: 300, height: 200)])
        return (try await origin { _, _ in .answer(type: "image/jpeg", body: picture.body) }, picture)
    }
}
