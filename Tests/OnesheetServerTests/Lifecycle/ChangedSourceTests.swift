import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// A source whose configuration changes is asked again.
final class ChangedSourceTests: ServerTestCase {
    /// An origin with two lists.
    private func lists() async throws -> OriginServer {
        try await origin { target, _ in
            let name = target.hasPrefix("/old") ? "Old" : "New"
            return .answer(type: "application/json", body: ByteBuffer(string: #"{"items":[{"id":"1","name":"\#(name)"}]}"#))
        }
    }

    /// A folder for manifests.
    private func manifests() throws -> String {
        let folder = folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    private func manifest(_ list: String) -> Data {
        Data(
            """
            baseURL: http://films.example
            list: { get: "/\(list)", items: /items, fields: { id: /id, name: /name } }
            title: { get: "/\(list)/{id}", item: /items/0, fields: { id: /id, name: /name } }
            candidates: { get: "/\(list)/{id}", items: /items, fields: { url: /url } }
            """.utf8)
    }

    private func source(_ file: String, at origin: OriginServer, more: String = "") -> String {
        "films: { type: rest, manifest: \"\(file)\", baseURL: \"\(origin.url)\", networks: [loopback]\(more) }"
    }

    private func name(_ server: RunningServer) async throws -> String? {
        let titles = try await server.send("/sources/films/titles").json()["titles"] as? [[String: Any]]
        let title = try await server.send("/sources/films/titles/1").json()
        XCTAssertEqual(titles?.first?["name"] as? String, title["name"] as? String)
        return title["name"] as? String
    }

    func testThatARewrittenManifestTakesEffectWithAReload() async throws {
        // Given a list and a title in the cache
        let (origin, file) = (try await lists(), try manifests() + "/films.yaml")
        try manifest("old").write(to: URL(filePath: file))
        let server = try await server(sources: source(file, at: origin))
        let before = try await name(server)
        XCTAssertEqual(server.server.sourceFiles, [file: FileStamp(file)], "a replacement before the next poll goes unnoticed")

        // When the manifest is rewritten and the configuration reloaded
        try manifest("new").write(to: URL(filePath: file))
        let meanwhile = try await name(server)
        await server.reload(sources: source(file, at: origin))

        // Then both are asked again
        let after = try await name(server)
        XCTAssertEqual([before, meanwhile, after], ["Old", "Old", "New"])
    }

    func testThatAnotherManifestTakesEffectWithAReloadAndAfterARestart() async throws {
        // Given a server with one manifest and a list of it
        let (origin, folder, cache) = (try await lists(), try manifests(), self.folder())
        let files = ["old", "new"].map { "\(folder)/\($0).yaml" }
        for (file, list) in zip(files, ["old", "new"]) { try manifest(list).write(to: URL(filePath: file)) }
        let first = try await server(sources: source(files[0], at: origin), cache: cache)
        let before = try await name(first)

        // When the configuration names another one, in a running server, and then the first one again after a restart
        await first.reload(sources: source(files[1], at: origin))
        let reloaded = try await name(first)
        await first.stop()
        let second = try await server(sources: source(files[0], at: origin), cache: cache)
        let restarted = try await name(second)

        // Then the list is that of each manifest
        XCTAssertEqual([before, reloaded, restarted], ["Old", "New", "Old"])
    }

    func testThatACommandWithAnotherConfigurationHidesNothingFromTheNextStart() async throws {
        // Given a server with one manifest
        let (origin, folder, cache) = (try await lists(), try manifests(), self.folder())
        let files = ["old", "new"].map { "\(folder)/\($0).yaml" }
        for (file, list) in zip(files, ["old", "new"]) { try manifest(list).write(to: URL(filePath: file)) }
        let first = try await server(sources: source(files[0], at: origin), cache: cache)
        _ = try await name(first)

        // When a command beside it has the other one, and the server stores what it knows afterwards
        let yaml = RunningServer.yaml(sources: source(files[1], at: origin), cache: cache)
        let command = try ServerContext(
            try ConfigurationFile(environment: [:]).parse(yaml), .standard, logger: RunningServer.silent)
        await command.dropOutdatedAnswers(isServer: false)
        try await command.shutdown()
        await first.server.responder.context.pipeline.cache.invalidations.check()
        let before = try await name(first)
        await first.stop()

        // Then a start with the other one asks again
        let second = try await server(sources: source(files[1], at: origin), cache: cache)
        let after = try await name(second)
        XCTAssertEqual([before, after], ["Old", "New"])
    }

    func testThatABrokenManifestLeavesTheOldOneAndIsWatchedForItsCorrection() async throws {
        // Given a server with a manifest
        let (origin, folder) = (try await lists(), try manifests())
        let (good, bad) = (folder + "/good.yaml", folder + "/bad.yaml")
        try manifest("old").write(to: URL(filePath: good))
        try Data("nonsense: 1".utf8).write(to: URL(filePath: bad))
        let server = try await server(sources: source(good, at: origin))

        // When the configuration names a broken one
        await server.reload(sources: source(bad, at: origin))

        // Then the old one stays, and both are watched
        let after = try await name(server)
        XCTAssertEqual(after, "Old")
        XCTAssertEqual(Set(server.server.sourceFiles.keys), [good, bad])
    }

    func testThatTheSameConfigurationAndAnotherPaceKeepTheList() async throws {
        // Given a server with a list in its cache, and a manifest that it reads only at its start
        let (origin, folder, cache) = (try await lists(), try manifests(), self.folder())
        let file = folder + "/films.yaml"
        try manifest("old").write(to: URL(filePath: file))
        let first = try await server(sources: source(file, at: origin), cache: cache)
        _ = try await first.send("/sources/films/titles")
        await first.stop()
        let asked = origin.requests()

        // When it restarts, and reloads with other limits
        let second = try await server(sources: source(file, at: origin), cache: cache)
        _ = try await second.send("/sources/films/titles")
        await second.reload(sources: source(file, at: origin, more: ", rate: 7, timeout: 3s, limits: { calls: 3 }"))
        _ = try await second.send("/sources/films/titles")

        // Then the service is not asked again
        XCTAssertEqual(origin.requests(), asked)
    }
}

final class SourceDigestsTests: XCTestCase {
    private func digest(_ configuration: [String: ConfigurationValue], files: [String: String] = [:]) -> String {
        SourceDigests.digest(of: NestedSource(type: "rest", configuration: .mapping(configuration)), files: files)
    }

    func testThatAnyDifferenceOfWhatASourceIsIsAnotherDigest() {
        // Given configurations that differ in one thing each
        let digests = [
            digest([:]), digest(["a": .null]), digest(["a": .scalar("b")]), digest(["a": .scalar("null")]),
            digest(["a": .list([.scalar("b")])]), digest(["a": .list([.scalar("b"), .scalar("c")])]),
            digest(["a": .mapping(["b": .scalar("c")])]), digest(["a": .scalar("b")], files: ["x": "1"]),
            digest(["a": .scalar("b")], files: ["x": "2"]), digest(["a": .scalar("b")], files: ["y": "1"]),
        ]

        // Then all digests differ, and none shows a value
        XCTAssertEqual(Set(digests).count, digests.count)
        XCTAssertEqual(digest(["key": .scalar("secret")]).utf8.count, 64)
    }

    func testThatThePaceOfASourceDoesNotCount() {
        let pace: [String: ConfigurationValue] = ["rate": .scalar("5"), "timeout": .scalar("1s"), "answerBytes": .scalar("1MiB")]
        XCTAssertEqual(digest(["limits": .mapping(["calls": .scalar("3")])].merging(pace) { one, _ in one }), digest([:]))
    }

    func testThatTheFirstStartAndAnEqualOneChangeNothingAndADifferenceOnce() async throws {
        // Given a state without a record, as of an earlier version
        let (state, clock) = (InMemoryState(), ManualClock())
        let (one, other) = (digest([:]), digest(["a": .null]))
        let digests = SourceDigests(state, SourceConfigurationChanges(), clock: clock.wallClock)

        // When the server starts, starts again, and starts with another configuration
        let first = try await digests.restore("films", orRecord: one)
        let second = try await digests.restore("films", orRecord: one)
        let third = try await digests.restore("films", orRecord: other)
        // A purge that failed is tried again
        let fourth = try await digests.restore("films", orRecord: other)
        try await digests.change("films", to: other)
        let fifth = try await digests.restore("films", orRecord: other)

        // Then the answers are from the first configuration until the difference is settled
        XCTAssertEqual([first, second, third, fourth, fifth], [one, one, one, one, other])
    }
}
