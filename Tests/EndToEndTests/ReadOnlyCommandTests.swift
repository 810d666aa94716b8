import Foundation
import XCTest

/// Commands that only read leave every file and folder as it was.
final class ReadOnlyCommandTests: CommandTestCase {
    func testThatACommandThatOnlyLooksWritesNothing() async throws {
        // Given a folder with a configuration, foreign files and no cache
        let key = String(repeating: "0123456789abcdef", count: 4)
        try Data(
            "cache: { disk: { path: cache/of/ours } }\nsigning: { keys: [{ key: \(key), salt: \(key) }] }\nsources: { sample: { type: sample } }\n"
                .utf8
        ).write(to: folder.appending(path: "onesheet.yaml"))
        try FileManager.default.createDirectory(at: folder.appending(path: "letters"), withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: folder.appending(path: "letters/letter"))
        let before = try snapshot()
        // When all read-only commands run
        for arguments in [
            ["config", "check"], ["config", "check", "--cache", "c", "--record", "tape/of/ours"],
            ["config", "check", "--cache", folder.path + "/letters/below"], ["config", "print"], ["sources"],
            ["sources", "sample", "remote"], ["sign", "w:60/plain/sample://1"], ["cache", "stats"], ["cache", "stats", "--json"],
            ["cache", "verify"], ["cache", "verify", "--repair"], ["cache", "purge", "--all"],
        ] {
            let outcome = try await run(arguments)
            // Then they succeed
            XCTAssertEqual(outcome.status, 0, "\(arguments): \(outcome.errors)")
        }
        // And one reports that it could not write there
        let refused = try await run(["config", "check", "--cache", "letters"])
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("is not a Onesheet cache"), refused.errors)
        // And the folder is unchanged
        XCTAssertEqual(try snapshot(), before)
    }

    func testThatAConfigurationIsCheckedBesideACacheWithoutChangingIt() async throws {
        // Given a cache
        _ = try await run(["prefetch", "sample", "--id", "1", "--sizes", "w92", "--cache", "c", "--json"])
        let before = try snapshot()
        // When the configuration is checked
        let outcome = try await run(["config", "check", "--cache", "c"])
        // Then it is valid, and the cache is unchanged
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        XCTAssertEqual(try snapshot(), before)
    }

    /// Names, types, permissions, sizes and times of all items in the folder.
    private func snapshot() throws -> [String: String] {
        var items: [String: String] = [:]
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: folder.path)) {
            var facts = stat()
            guard lstat("\(folder.path)/\(name)", &facts) == 0 else { throw POSIXError(.ENOENT) }
            items[name] = "\(facts.st_mode) \(facts.st_size) \(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec) \(facts.st_ino)"
        }
        return items
    }
}
