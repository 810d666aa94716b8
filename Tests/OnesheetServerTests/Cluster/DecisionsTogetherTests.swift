import Foundation
import JPEGCodec
import Logging
import NIOCore
import OnesheetCache
import OnesheetCluster
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// What the administrator decides on one of several servers with one store.
final class DecisionsTogetherTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]
    private let engines = UUID().uuidString
    private let path = "/sources/kakao/titles/film"
    private let poster = "/t/p/original/kakao/film"
    private var store: FakeObjectStore { TestEngines.named(engines).store }
    private var coordinator: FakeCoordinator { TestEngines.named(engines).coordinator }

    func testThatAPinOnOneServerIsServedByTheOther() async throws {
        // Given two servers that serve the poster of a search
        let origin = try await search()
        let (first, second) = (try await member(origin), try await member(origin))
        let before = try await [width(first), width(second)]
        XCTAssertEqual(before, [160, 160])
        // When another picture is pinned on one of them
        let pinned = try await put("{\"candidate\": 1}", on: first)
        XCTAssertEqual(pinned.status, 200, pinned.text)
        // Then both serve it, and list the pin
        let here = try await width(first)
        XCTAssertEqual(here, 284)
        try await waitUntil { try await self.width(second) == 284 }
        let states = try await states(second)
        XCTAssertEqual(states, ["pinned", nil, nil])
        // And a server that comes with an empty folder serves it at once, and can take it back
        let third = try await member(origin)
        let there = try await width(third)
        XCTAssertEqual(there, 284)
        let forgotten = try await third.send("\(path)/poster", method: "DELETE", fields: administrator)
        XCTAssertEqual(forgotten.status, 200, forgotten.text)
        for server in [first, second, third] { try await waitUntil { try await self.width(server) == 160 } }
    }

    func testThatTwoServersThatRejectAtOnceBothDo() async throws {
        // Given
        let origin = try await search()
        let (first, second) = (try await member(origin), try await member(origin))
        for server in [first, second] { _ = try await width(server) }
        // When
        let statuses = try await withThrowingTaskGroup(of: Int.self) { [path, administrator] group in
            for (server, number) in [(first, 2), (second, 3)] {
                group.addTask {
                    let body = "{\"reject\": \(number)}"
                    return try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: body).status
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        // Then
        XCTAssertEqual(statuses, [200, 200])
        for server in [first, second] {
            try await waitUntil {
                let states = try await self.states(server)
                if states == ["chosen", "rejected", "rejected"] { return true }
                return try await self.width(server) != 284
            }
            try await waitUntil { try await self.width(server) == 284 }
            try await waitUntil { try await self.states(server) == ["chosen", "rejected", "rejected"] }
        }
    }

    func testThatAPictureThatIsBlockedOnOneServerIsServedByNone() async throws {
        // Given two servers that serve a picture, the second from memory and disk
        let origin = try await search()
        let (first, second) = (try await member(origin), try await member(origin))
        for server in [first, second] { _ = try await width(server) }
        // When it is blocked on the first
        let blocked = try await put("{\"block\": true}", on: first)
        XCTAssertEqual(blocked.status, 200, blocked.text)
        // Then the second serves another one, and knows the list
        try await waitUntil { try await self.width(second) == 284 }
        let lists = try await [list(first), list(second)]
        XCTAssertEqual(lists[0].count, 1)
        XCTAssertEqual(lists[0], lists[1])
        // And the second can release it for both
        let released = try await second.send("/blocked/\(lists[0][0])", method: "DELETE", fields: administrator)
        XCTAssertEqual(released.status, 200, released.text)
        try await waitUntil { try await self.list(first).isEmpty }
    }

    func testThatAPictureOfASourceThatKnowsItsPostersIsBlockedEverywhere() async throws {
        // Given a picture without a hash, in memory and on the disk of one server only
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let (first, second) = (try await remoteMember(origin), try await remoteMember(origin))
        let (here, there) = ("/i/unsafe/w:60/plain/\(origin.url)/a@jpg", "/i/unsafe/w:60/plain/\(origin.url)/b@jpg")
        let served = try await [first.send(here).status, second.send(there).status]
        XCTAssertEqual(served, [200, 200])
        // Without the store, so that only the second server can find it
        await second.server.responder.context.resources.cluster?.shared?.flush()
        for name in store.names where name.contains("/v") { store[name] = nil }
        // When the first blocks it by its hash
        let title = TitleReference(source: "web", id: "\(origin.url)/a")
        let known = try await first.server.responder.context.posters.current(ImageReference(title))
        let hash = try XCTUnwrap(known?.hash)
        let blocked = try await first.send("/blocked/\(hash)", method: "PUT", fields: administrator)
        XCTAssertEqual(blocked.status, 200, blocked.text)
        // Then the second finds it, too
        try await waitUntil { try await second.send(there).status == 404 }
        let gone = try await first.send(here)
        XCTAssertEqual(gone.status, 404, gone.text)
    }

    func testThatADecisionThatCannotBeKeptChangesNothing() async throws {
        // Given two servers, and a store that is down
        let origin = try await search()
        let (first, second) = (try await member(origin), try await member(origin))
        for server in [first, second] { _ = try await width(server) }
        let before = try await first.send("\(path)/posters").text
        store.change { $0.failure = .unreachable(operation: "any", reason: "down") }
        // When one of them is to decide
        let requests: [(String, String, String?)] = [
            ("\(path)/poster", "PUT", "{\"candidate\": 1}"), ("\(path)/poster", "PUT", "{\"reject\": 2}"),
            ("\(path)/poster", "PUT", "{\"block\": true}"), ("\(path)/poster", "DELETE", nil),
            ("/blocked/0123456789abcdef", "PUT", nil),
        ]
        for (path, method, body) in requests {
            let answer = try await first.send(path, method: method, fields: administrator, body: body)
            // Then it says so
            assertProblem(answer, 503, "cannot be kept in the store that the servers share, so nothing is changed", context: path)
            XCTAssertEqual(answer.field("Retry-After"), "2")
        }
        // And everything is as before
        let after = try await first.send("\(path)/posters").text
        XCTAssertEqual(after, before)
        let widths = try await [width(first), width(second)]
        XCTAssertEqual(widths, [160, 160])
        let blocked = try await list(first)
        XCTAssertEqual(blocked, [])
        // And with the store it can
        store.change { $0.failure = nil }
        let pinned = try await put("{\"candidate\": 1}", on: first)
        XCTAssertEqual(pinned.status, 200, pinned.text)
        try await waitUntil { try await self.width(second) == 284 }
        try await waitUntil { try await first.send("/metrics").text.contains("onesheet_shared_decisions_unread 0\n") }
    }

    func testThatAHitAndAnOrdinaryMissAskForNoDecision() async throws {
        // Given a server with a pin
        let origin = try await search()
        let server = try await member(origin)
        _ = try await put("{\"candidate\": 1}", on: server)
        let tier = try XCTUnwrap(server.server.responder.context.resources.cluster?.shared)
        await tier.flush()
        // When it makes variants that no one has, and serves them
        let read = Mutex<[String]>([])
        store.change { behavior in
            behavior.damage = { name, body in
                read.withLock { $0.append(name) }
                return body
            }
        }
        for path in ["/t/p/w92/kakao/film.jpg", "/t/p/w92/kakao/film.jpg", "/t/p/w154/kakao/film.jpg", poster] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200)
        }
        // Then it reads no decision, as it does for a change
        XCTAssertEqual(read.withLock { $0 }.filter { $0.contains("/state/") }, [])
        _ = try await put("{\"candidate\": 2}", on: server)
        XCTAssertEqual(read.withLock { $0 }.filter { $0.contains("/state/") }.count, 1)
    }

    func testThatAStoreWithoutConditionsIsReported() async throws {
        // Given
        store.change { $0.ignoresConditions = true }
        let origin = try await search()
        let log = LogRecorder()
        let (first, second) = (try await member(origin, logger: log.logger), try await member(origin))
        for server in [first, second] { _ = try await width(server) }
        // When
        let pinned = try await put("{\"candidate\": 1}", on: first)
        // Then the decision is made where it was taken, and the log and `config check` say so
        XCTAssertEqual(pinned.status, 200, pinned.text)
        try await waitUntil { try await self.width(first) == 284 }
        // The other one knows of no pin. It may have the pinned picture, because the store holds that for both.
        let there = try await states(second)
        XCTAssertFalse(there.contains("pinned"), "\(there)")
        try await waitUntil { log.all.contains { $0.contains("stay on the server that takes them") } }
        let findings = await first.server.responder.context.resources.cluster?.findings() ?? []
        XCTAssertTrue(findings.contains { $0.warnings.contains { $0.contains("stay on the server that takes them") } })
    }

    // MARK: Parts

    private var keys: String {
        let engine = "{ type: test, name: \"\(engines)\" }"
        return "admin: { token: secret-for-tests }\nshared: { store: \(engine), coordinator: \(engine) }"
    }

    private func member(_ origin: OriginServer, logger: Logger = RunningServer.silent) async throws -> RunningServer {
        try await server(
            sources: "kakao: { type: kakao, key: k, baseURL: \"\(origin.url)/search\", networks: [loopback] }", keys: keys,
            logger: logger, plugins: .withEngines)
    }

    private func remoteMember(_ origin: OriginServer) async throws -> RunningServer {
        try await server(sources: web(origin), keys: keys, plugins: .withEngines)
    }

    private func put(_ body: String, on server: RunningServer) async throws -> ServerAnswer {
        try await server.send("\(path)/poster", method: "PUT", fields: administrator, body: body)
    }

    /// The width of the poster, which tells the candidates apart.
    private func width(_ server: RunningServer) async throws -> Int {
        let answer = try await server.send(poster)
        XCTAssertEqual(answer.status, 200, answer.text)
        return try Picture.header(answer.body).width
    }

    private func states(_ server: RunningServer) async throws -> [String?] {
        let document = try await server.send("\(path)/posters").json()
        return try XCTUnwrap(document["candidates"] as? [[String: Any]]).map { $0["state"] as? String }
    }

    private func list(_ server: RunningServer) async throws -> [String] {
        try await server.send("/blocked/", fields: administrator).json()["blocked"] as? [String] ?? []
    }

    /// A search that finds a photo, announced as a poster, and the poster in two sizes.
    private func search() async throws -> OriginServer {
        let photo = ByteBuffer(bytes: try DrawnPoster(width: 284, height: 196, seed: 1).file(JPEGCodec()))
        let poster = ByteBuffer(bytes: try DrawnPoster(width: 160, height: 240, seed: 2).file(JPEGCodec()))
        let copy = ByteBuffer(bytes: try DrawnPoster(width: 120, height: 180, seed: 2).file(JPEGCodec()))
        return try await origin { target, fields in
            switch target.prefix(2) {
            case "/a": .answer(type: "image/jpeg", body: photo)
            case "/b": .answer(type: "image/jpeg", body: poster)
            case "/c": .answer(type: "image/jpeg", body: copy)
            default: .answer(type: "application/json", body: ByteBuffer(string: Self.hits("http://\(fields["host"] ?? "")")))
            }
        }
    }

    private static func hits(_ base: String) -> String {
        let hits = [("a", "movie.daum.net", 1000, 1430), ("b", "site b", 160, 240), ("c", "site c", 120, 180)].map {
            """
            {"collection":"blog","thumbnail_url":"\(base)/\($0.0)","image_url":"\(base)/\($0.0)","width":\($0.2),"height":\($0.3),\
            "display_sitename":"\($0.1)","doc_url":"http://127.0.0.1/page/\($0.0)","datetime":"2012-01-01T12:00:00.000+09:00"}
            """
        }
        return "{\"meta\":{\"total_count\":3,\"pageable_count\":3,\"is_end\":true},\"documents\":[\(hits.joined(separator: ","))]}"
    }
}
