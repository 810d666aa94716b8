import Logging
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Reloading the configuration.
final class ReloadTests: ServerTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"
    private let lines = LogLines()

    func testThatAnotherConfigurationHoldsFromTheNextRequestOnAlsoOnOpenConnections() async throws {
        // Given a server with unsigned free transforms, one of them in memory
        let server = try await server()
        let path = "/i/unsafe/w:92/f:jpg/plain/sample://1"
        let request = "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
        _ = try await server.send(path)
        try await OpenConnection.with(server.url) { connection in
            try await connection.send("HEAD" + request.dropFirst(3))
            let before = try await connection.read(until: "\r\n\r\n")
            XCTAssertTrue(before.hasPrefix("HTTP/1.1 200"), before)
            // When signatures become required
            await server.reload(keys: "signing: { keys: [{ key: \"0102030405060708\", salt: \"0102030405060708\" }] }")
            // Then they are, on that connection too
            try await connection.send(request)
            let after = try await connection.read(until: "\r\n\r\n")
            XCTAssertTrue(after.hasPrefix("HTTP/1.1 403"), after)
        }
    }

    func testThatSourcesComeAndGoAndTheCacheStays() async throws {
        // Given a server with one source, and a picture in memory
        let server = try await server()
        let first = try await server.send(poster)
        // When another source is added
        await server.reload(sources: "sample: { type: sample }\nmore: { type: sample }")
        // Then it responds, and memory still has the picture
        let more = try await server.send("/t/p/w92/more/1.jpg")
        let second = try await server.send(poster)
        XCTAssertEqual(more.status, 200)
        XCTAssertEqual(second.body, first.body)
        XCTAssertTrue(second.field("Cache-Status")?.hasSuffix("detail=memory") ?? false, second.field("Cache-Status") ?? "")
        // And after it is removed, it is unknown, even if the cache still has its pictures
        await server.reload()
        for path in ["/t/p/w92/more/1.jpg", "/t/p/w92/more/2.jpg"] { assertProblem(try await server.send(path), 404, "more") }
    }

    func testReloadEndsTheProgramsOfTheFirstConfiguration() async throws {
        // Given a server whose first configuration has a program that leaves a file when it ends
        let films = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "examples/exec-source/films.sh").path
        let end = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: end) }
        let server = try await server(
            sources: "films: { type: exec, command: [/bin/sh, -c, '\"$0\"; touch \"$1\"', \"\(films)\", \"\(end)\"] }")
        let list = try await server.send("/sources/films/titles")
        XCTAssertEqual(list.status, 200)
        // When a reload removes its source, then it ends
        await server.reload()
        try await waitUntil { FileManager.default.fileExists(atPath: end) }
    }

    func testDisallowedOriginIsNotRendered() async throws {
        // Given pictures of two folders, of which one size each is made
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: web(origin))
        func path(_ folder: String, _ width: Int) -> String {
            "/i/unsafe/w:\(width)/plain/web://\(PercentEncoding.encode("\(origin.url)/\(folder)/one"))@jpg"
        }
        for folder in ["a", "b"] {
            let answer = try await server.send(path(folder, 60))
            XCTAssertEqual(answer.status, 200, answer.text)
        }
        // When only one folder stays allowed
        await server.reload(sources: "web: { type: remote, allow: [\"\(origin.url)/a/\"], networks: [loopback] }")
        // Then another size is made of its picture, without a question to the origin, and of the other one none
        let asked = origin.requests()
        let allowed = try await server.send(path("a", 70))
        let other = try await server.send(path("b", 70))
        XCTAssertEqual(allowed.status, 200, allowed.text)
        assertProblem(other, 404, "b/one")
        XCTAssertEqual(origin.requests(), asked)
    }

    func testStoredImagesOfADisallowedOriginAreServed() async throws {
        // Given two sources, and an image of each that is fresh for a minute, by all grammars
        let (body, clock) = (try Picture.jpeg(), ManualClock())
        let origin = try await origin { _, _ in
            .answer(type: "image/jpeg", fields: ["Cache-Control": "max-age=60, stale-while-revalidate=0"], body: body)
        }
        func sources(_ folders: String...) -> String {
            zip(["web", "other"], folders).map { name, folder in
                "\(name): { type: remote, allow: [\"\(origin.url)/\(folder)/\"], networks: [loopback] }"
            }.joined(separator: "\n")
        }
        let dialects = "dialects: [thumbor]"
        let server = try await server(sources: sources("a", "b"), keys: dialects, clock: clock.wallClock)
        func paths(_ width: Int) -> [String] {
            [("web", "a"), ("other", "b")].flatMap { name, folder in
                let url = "\(origin.url)/\(folder)/one"
                let id = PercentEncoding.encode(url)
                return [
                    "/t/p/w\(width)/\(name)/\(id).jpg", "/i/unsafe/w:\(width)/plain/\(name)://\(id)@jpg",
                    "/i/unsafe/w:\(width)/plain/\(url)@jpg", "/thumbor/unsafe/\(width)x0/filters:format(jpeg)/\(url)",
                ]
            }
        }
        var made: [ByteBuffer] = []
        for path in paths(92) {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, answer.text)
            made.append(answer.body)
        }
        // When neither is allowed any longer
        await server.reload(sources: sources("none", "nowhere"), keys: dialects)
        let asked = origin.requests()
        // Then that image is served, and no other one is made
        for (path, body) in zip(paths(92), made) {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, "\(path): \(answer.text)")
            XCTAssertEqual(answer.body, body, path)
        }
        for path in paths(154) {
            let answer = try await server.send(path)
            XCTAssertTrue([403, 404].contains(answer.status), "\(path): \(answer.status)")
        }
        // And when it is stale, it is refused
        clock.advance(by: .seconds(61))
        for path in paths(92) {
            let answer = try await server.send(path)
            XCTAssertTrue([403, 404].contains(answer.status), "\(path): \(answer.status)")
        }
        XCTAssertEqual(origin.requests(), asked)
    }

    func testThatABadConfigurationIsRefusedAndTheOldOneStays() async throws {
        let server = try await server(logger: lines.logger())
        for (keys, words) in [
            ("presets: { card: \"rs:wrong\" }", "wrong"), ("nonsense: 1", "nonsense"), ("limits: { workers: 0 }", "limits.workers"),
            ("listen: [", "YAML"),
        ] {
            // When the new configuration is invalid
            await server.reload(sources: "other: { type: sample }", keys: keys)
            // Then the log explains that, and nothing changes
            let last = lines.all.last { $0.contains("the old one stays") } ?? ""
            XCTAssertTrue(last.contains(words), "\(keys): \(last)")
            let answer = try await server.send(poster)
            XCTAssertEqual(answer.status, 200, keys)
        }
    }

    func testThatWhatCannotChangeIsNamed() async throws {
        let server = try await server(logger: lines.logger())
        await server.reload(keys: "limits: { workers: 7 }\nclients: { connections: 7 }\npresetsOnly: true")
        let warning = lines.all.first { $0.contains("after a restart") } ?? ""
        XCTAssertTrue(warning.contains("limits, clients"), warning)
        // All reloadable keys have changed.
        let answer = try await server.send("/i/unsafe/w:92/f:jpg/plain/sample://1")
        XCTAssertEqual(answer.status, 403)
    }

    func testThatARequestUnderWayEndsAsItBegan() async throws {
        // Given half a request for a source
        let server = try await server(keys: "admin: { token: secret-for-tests }", logger: lines.logger(level: .trace))
        let begun = lines.expectation(of: "path=/prefetch")
        try await OpenConnection.with(server.url) { connection in
            try await connection.send("GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
            _ = try await connection.read(until: "ok\n")
            let body = "{\"source\":\"sample\",\"ids\":[\"1\"],\"sizes\":[\"w92\"]}"
            try await connection.send(
                "GET /health HTTP/1.1\r\nHost: h\r\n\r\nPOST /prefetch HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer secret-for-tests\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body.dropLast())")
            _ = try await connection.read(until: "ok\n")
            await fulfillment(of: [begun], timeout: 60)
            // When the source is removed before the other half arrives
            await server.reload(sources: "other: { type: sample }")
            try await connection.send("}")
            let answer = try await connection.read(until: "}")
            // Then the request uses the source that existed when it began
            XCTAssertTrue(answer.hasPrefix("HTTP/1.1 200 "), answer)
            XCTAssertTrue(answer.contains("\"made\":1"), answer)
        }
    }

    func testThatManyChangesUnderLoadLoseNoRequest() async throws {
        // Given clients that send requests all the time
        let server = try await server()
        _ = try await server.send(poster)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { [poster] in
                    for round in 0..<50 {
                        let answer = try await server.send(round % 2 == 0 ? poster : "/t/p/w154/sample/1.jpg")
                        XCTAssertEqual(answer.status, 200)
                    }
                }
            }
            // When the configuration changes twenty times
            for round in 0..<20 {
                await server.reload(keys: "presets: { card: \"rs:fit:\(round + 1):0\" }")
                await Task.yield()
            }
            // Then every request gets its response
            try await group.waitForAll()
        }
    }
}
