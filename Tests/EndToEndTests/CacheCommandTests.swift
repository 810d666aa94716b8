import Foundation
import XCTest

/// `onesheet cache` on a folder that `onesheet prefetch` has filled.
final class CacheCommandTests: CommandTestCase {
    func testThatCachePurgeRemovesWhatItNames() async throws {
        // Given a cache with two titles
        _ = try await run(["prefetch", "sample", "--id", "1", "--id", "2", "--sizes", "w92", "--cache", "c", "--json"])
        // When one is purged, first as a dry run
        let shown = try await run(["cache", "purge", "--source", "sample", "--id", "1", "--cache", "c", "--dry-run", "--json"])
        let purged = try await run(["cache", "purge", "--source", "sample", "--id", "1", "--cache", "c", "--json"])
        let after = try await run(["cache", "stats", "--cache", "c", "--json"])
        // Then its original and its variant are removed, and the other's are present
        XCTAssertEqual(shown.text, purged.text)
        XCTAssertEqual(try summary(purged)["entries"], 3)
        let figures = try JSONDecoder().decode(CacheFigures.self, from: after.output)
        XCTAssertEqual(figures.total.entries, 3)
        XCTAssertEqual(figures.sources["sample"]?.entries, 3)
        let text = try await run(["cache", "stats", "--cache", "c"]).text
        XCTAssertTrue(text.contains("\n  sample: 3 entries, "), text)
    }

    func testThatCachePurgeTellsWhichIDItNeedsIfItFindsNone() async throws {
        _ = try await run(["prefetch", "sample", "--id", "1", "--sizes", "w92", "--cache", "c", "--json"])

        let none = try await run(["cache", "purge", "--source", "sample", "--id", "01", "--cache", "c"])
        let some = try await run(["cache", "purge", "--source", "sample", "--id", "1", "--cache", "c"])

        XCTAssertEqual(none.text, "0 entries, 0 bytes removed\n")
        XCTAssertEqual(none.errors, "no entry has the id “01”: use the id in the poster's canonical address\n")
        XCTAssertTrue(some.text.hasPrefix("3 entries, "), some.text)
        XCTAssertEqual(some.errors, "")
    }

    func testThatCachePurgeKnowsTagsAndWhatHasExpired() async throws {
        _ = try await run(["prefetch", "sample", "--id", "1", "--id", "2", "--sizes", "w92", "--cache", "c", "--json"])
        for (selection, entries) in [(["--expired"], 0), (["--tag", "title:sample://2"], 3), (["--all"], 3)] {
            let purged = try await run(["cache", "purge", "--cache", "c", "--json"] + selection)
            XCTAssertEqual(try summary(purged)["entries"], entries, "\(selection) \(purged.text)")
        }
    }

    func testThatCacheVerifyFindsDamageAndRepairsIt() async throws {
        // Given a cache with three files, one of which is truncated
        _ = try await run(["prefetch", "sample", "--id", "1", "--sizes", "w92", "--cache", "c", "--json"])
        let entries = folder.appending(path: "c/entries")
        let file = try XCTUnwrap(FileManager.default.subpathsOfDirectory(atPath: entries.path).first { $0.count > 32 })
        let handle = try FileHandle(forWritingTo: entries.appending(path: file))
        try handle.truncate(atOffset: 100)
        try handle.close()
        // When it is verified, repaired, and verified again
        let found = try await run(["cache", "verify", "--cache", "c"])
        let repaired = try await run(["cache", "verify", "--repair", "--cache", "c"])
        let after = try await run(["cache", "verify", "--cache", "c"])
        // Then the damage is a failure until it is repaired
        XCTAssertEqual(found.text, "2 whole, 1 damaged, 0 unknown to the index, 0 missing\n")
        XCTAssertEqual(repaired.text, "2 whole, 1 damaged, 0 unknown to the index, 0 missing; repaired\n")
        XCTAssertEqual(after.text, "2 whole, 0 damaged, 0 unknown to the index, 0 missing\n")
        XCTAssertEqual([found, repaired, after].map(\.status), [1, 0, 0])
    }

    func testThatTheSharedStoreIsCheckedCountedVerifiedAndPurged() async throws {
        // Given a configuration with a store whose folder is missing
        let yaml = """
            cache: { disk: { path: c } }
            shared: { store: { type: folder, path: s } }
            sources: { sample: { type: sample } }
            """
        try Data(yaml.utf8).write(to: folder.appending(path: "onesheet.yaml"))
        let missing = try await run(["config", "check"])
        XCTAssertNotEqual(missing.status, 0)
        XCTAssertTrue(missing.errors.contains("shared.store"), missing.errors)
        XCTAssertTrue(missing.errors.contains("s is not a folder; make it, or mount its file system"), missing.errors)
        // When it is there, and something has been made
        let store = folder.appending(path: "s")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        let checked = try await run(["config", "check"])
        XCTAssertEqual(checked.status, 0, checked.errors)
        _ = try await run(["prefetch", "sample", "--id", "1", "--sizes", "w342", "--json"])
        // Then statistics and verification know it
        let objects = try FileManager.default.subpathsOfDirectory(atPath: store.path).filter { $0.contains("-") }
        XCTAssertGreaterThanOrEqual(objects.count, 2)
        let stats = try await run(["cache", "stats"]).text
        XCTAssertTrue(stats.contains("\nshared: \(objects.count) entries, "), stats)
        let figures = try JSONDecoder().decode(SharedFigures.self, from: try await run(["cache", "stats", "--json"]).output)
        XCTAssertEqual(figures.shared.sources["sample"]?.entries, objects.count)
        try Data("x".utf8).write(to: store.appending(path: objects[0]))
        let (found, repaired) = (try await run(["cache", "verify"]), try await run(["cache", "verify", "--repair"]))
        XCTAssertTrue(found.text.hasSuffix("shared: \(objects.count - 1) whole, 1 damaged\n"), found.text)
        XCTAssertTrue(repaired.text.hasSuffix("shared: \(objects.count - 1) whole, 1 damaged; removed\n"), repaired.text)
        XCTAssertEqual([found.status, repaired.status], [1, 0])
        // And a purge empties it
        let purged = try await run(["cache", "purge", "--source", "sample", "--id", "1"])
        XCTAssertEqual(purged.status, 0, purged.errors)
        XCTAssertEqual(try FileManager.default.subpathsOfDirectory(atPath: store.path).filter { $0.contains("-") }, [])
    }

    func testThatAPurgeTellsTheOtherServersAlsoWithoutASharedStore() async throws {
        // Given servers that share a coordinator only, which is down
        let yaml = """
            cache: { disk: { path: c } }
            shared: { coordinator: { type: valkey, addresses: ["127.0.0.1:1"] } }
            sources: { sample: { type: sample } }
            """
        try Data(yaml.utf8).write(to: folder.appending(path: "onesheet.yaml"))
        // When
        let purged = try await run(["cache", "purge", "--all"])
        // Then the command says that it could not tell them
        XCTAssertEqual(purged.status, 1, purged.errors)
        XCTAssertTrue(purged.errors.contains("the other servers are told once it can be reached again"), purged.errors)
    }

    /// The shared part of the output of `cache stats --json`.
    private struct SharedFigures: Decodable {
        struct Part: Decodable { let entries: Int }
        struct Shared: Decodable { let sources: [String: Part] }
        let shared: Shared
    }

    /// The output of `cache stats --json`.
    private struct CacheFigures: Decodable {
        struct Part: Decodable { let entries: Int }
        let total: Part
        let sources: [String: Part]
    }
}
