import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// Three servers of which one is cut off from engines for a while, and servers that are restarted one after the other.
final class PartitionTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]
    private let engines = UUID().uuidString

    func testThatBothSidesServeAndPurgesOfBothAreEverywhereOnceTheyMeet() async throws {
        // Given three servers with two pictures
        let origin = try await origin()
        let servers = [try await member("a", origin), try await member("b", origin), try await member("c", origin)]
        let (one, two) = (path(origin, "one"), path(origin, "two"))
        let old = try await [servers[0].send(one).body, servers[0].send(two).body]
        for server in servers {
            let bodies = try await [server.send(one).body, server.send(two).body]
            XCTAssertEqual(bodies, old)
        }
        // When one of them is cut off, and each side purges another picture
        TestEngines.named(engines).cut("c", from: [.coordinator])
        pictures.change()
        let here = try await purge("one", origin, on: servers[0])
        let there = try await purge("two", origin, on: servers[2])
        XCTAssertEqual(here.status, 200, here.text)
        assertProblem(there, 503, "the other servers are told once it can be reached again")
        // Then each side serves both, its own purge done
        let new = try await [servers[0].send(one).body, servers[2].send(two).body]
        try await waitUntil { try await servers[1].send(one).body == new[0] }
        let sides = try await [servers[0].send(two).body, servers[1].send(two).body, servers[2].send(one).body]
        XCTAssertEqual(sides, [old[1], old[1], old[0]])
        XCTAssertFalse(new.contains { old.contains($0) })
        // And once they meet, no one has an old picture, and no one gets one back from the store
        TestEngines.named(engines).cut("c", from: [])
        for server in servers {
            try await waitUntil { try await [server.send(one).body, server.send(two).body] == new }
        }
        for server in servers {
            _ = await server.server.responder.context.resources.cache.memory.remove(.all)
            let bodies = try await [server.send(one).body, server.send(two).body]
            XCTAssertEqual(bodies, new)
        }
        try await waitUntil { try await servers[2].send("/metrics").text.contains("onesheet_purge_outbox 0\n") }
    }

    func testThatAServerThatIsCutOffDecidesNothingAndLearnsEverything() async throws {
        // Given two servers, of which one is cut off
        let origin = try await origin()
        let servers = [try await member("a", origin), try await member("b", origin)]
        for server in servers {
            let answer = try await server.send(path(origin, "one"))
            XCTAssertEqual(answer.status, 200)
        }
        TestEngines.named(engines).cut("b", from: [.coordinator, .store])
        // When both are to block a picture
        let lost = try await block("1111111111111111", on: servers[1])
        let kept = try await block("2222222222222222", on: servers[0])
        // Then the one that is cut off cannot, and serves on
        assertProblem(lost, 503, "cannot be kept")
        XCTAssertEqual(kept.status, 200, kept.text)
        let answer = try await servers[1].send(path(origin, "one"))
        let before = try await blocked(servers[1])
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(before, [])
        // And it knows the decision of the other one once they meet
        TestEngines.named(engines).cut("b", from: [])
        try await waitUntil { try await self.blocked(servers[1]) == ["2222222222222222"] }
    }

    func testThatARollingRestartFailsNoRequestAndFetchesNothingAgain() async throws {
        // Given three servers with twenty pictures, behind a balancer
        let origin = try await origin()
        let folders = (0..<3).map { _ in folder() }
        var running: [RunningServer] = []
        for number in 0..<3 { running.append(try await member("\(number)", origin, cache: folders[number])) }
        let paths = (0..<20).map { path(origin, "\($0)") }
        for server in running {
            for path in paths {
                let answer = try await server.send(path)
                XCTAssertEqual(answer.status, 200)
            }
        }
        let fetched = origin.requests()
        let balancer = Balancer(running)
        // When each is stopped and started again, while clients ask
        let end = End()
        let answered = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in 0..<6 {
                group.addTask {
                    var count = 0
                    while !end.isThere.withLock({ $0 }) {
                        let status = try await balancer.status(of: paths[(client * 7 + count) % paths.count])
                        XCTAssertEqual(status, 200)
                        count += 1
                        end.answered.withLock { $0 += 1 }
                    }
                    return count
                }
            }
            for number in 0..<3 {
                let server = running[number]
                XCTAssertTrue(server.server.drain())
                try await server.end()
                balancer.replace(number, by: try await member("\(number)", origin, cache: folders[number]))
                await waitWhile(end.answered.withLock { $0 } < 20 * (number + 1))
            }
            end.isThere.withLock { $0 = true }
            return try await group.reduce(0, +)
        }
        // Then every request was answered, and no picture was fetched again
        XCTAssertGreaterThanOrEqual(answered, 60)
        XCTAssertEqual(origin.requests(), fetched)
        XCTAssertEqual(balancer.failures, 0)
    }

    // MARK: Parts

    /// Whether clients may stop, and how many answers they have.
    private final class End: Sendable {
        let isThere = Mutex(false)
        let answered = Mutex(0)
    }

    private let pictures = ChangingPictures()

    private func origin() async throws -> OriginServer {
        let bodies = try [(90, 60), (120, 100)].map { try Picture.jpeg(width: $0.0, height: $0.1) }
        return try await origin { [pictures] _, _ in .answer(type: "image/jpeg", body: bodies[pictures.version]) }
    }

    private func member(_ name: String, _ origin: OriginServer, cache: String? = nil) async throws -> RunningServer {
        let engine = "{ type: test, name: \"\(engines)\", server: \"\(name)\" }"
        return try await server(
            sources: web(origin),
            keys: """
                admin: { token: secret-for-tests }
                shutdown: { delay: 0s }
                shared: { store: \(engine), coordinator: \(engine) }
                """,
            cache: cache, plugins: .withEngines)
    }

    private func path(_ origin: OriginServer, _ name: String) -> String { "/i/unsafe/w:40/plain/\(origin.url)/\(name)@jpg" }

    private func purge(_ name: String, _ origin: OriginServer, on server: RunningServer) async throws -> ServerAnswer {
        let tag = "title:web://\(origin.url)/\(name)".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await server.send("/cache/?tag=\(tag)", method: "DELETE", fields: administrator)
    }

    private func block(_ hash: String, on server: RunningServer) async throws -> ServerAnswer {
        try await server.send("/blocked/\(hash)", method: "PUT", fields: administrator)
    }

    private func blocked(_ server: RunningServer) async throws -> [String] {
        try await server.send("/blocked/", fields: administrator).json()["blocked"] as? [String] ?? []
    }
}

/// The version of the pictures at the origin.
private final class ChangingPictures: Sendable {
    private let current = Mutex(0)

    var version: Int { current.withLock { $0 } }
    func change() { current.withLock { $0 = 1 } }
}

/// Sends each request to the next server, and to another one if that does not take it, as balancers do with requests that change nothing.
private final class Balancer: Sendable {
    private struct State {
        var servers: [RunningServer]
        var next = 0
        var failures = 0
    }

    private let state: Mutex<State>

    init(_ servers: [RunningServer]) { state = Mutex(State(servers: servers)) }

    /// Requests that no server took.
    var failures: Int { state.withLock { $0.failures } }

    func replace(_ number: Int, by server: RunningServer) { state.withLock { $0.servers[number] = server } }

    func status(of path: String) async throws -> Int {
        let first = state.withLock { state in
            state.next += 1
            return state.next
        }
        for attempt in 0..<3 {
            let server = state.withLock { $0.servers[(first + attempt) % $0.servers.count] }
            do {
                let status = try await server.send(path).status
                if status != 503 { return status }
            } catch {
                continue
            }
        }
        state.withLock { $0.failures += 1 }
        return 503
    }
}
