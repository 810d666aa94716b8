import Foundation
import XCTest

/// `onesheet new-source`, outside of the repository.
final class NewSourceTests: CommandTestCase {
    func testManifestIsValid() async throws {
        // When
        let outcome = try await Program.run(["new-source", "films"], in: folder)
        // Then the file is there, and the printed lines are a configuration
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        let printed = outcome.text.replacing("${FILMS_KEY}", with: "k")
        try Data(printed.utf8).write(to: folder.appending(path: "onesheet.yaml"))
        let check = try await Program.run(["config", "check", "--cache", "c"], in: folder)
        XCTAssertEqual(check.status, 0, check.errors)
        // And a second one overwrites nothing
        try Data("mine".utf8).write(to: folder.appending(path: "films.yaml"))
        let again = try await Program.run(["new-source", "films"], in: folder)
        XCTAssertEqual(again.status, 1)
        XCTAssertEqual(again.errors, "onesheet: films.yaml exists already; it stays as it is\n")
        XCTAssertEqual(try String(contentsOf: folder.appending(path: "films.yaml"), encoding: .utf8), "mine")
    }

    func testProgramAnswers() async throws {
        // Given
        let outcome = try await Program.run(["new-source", "films", "--type", "exec"], in: folder)
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        try Data(outcome.text.utf8).write(to: folder.appending(path: "onesheet.yaml"))
        // When
        let titles = try await Program.run(["sources", "titles", "films", "--cache", "c"], in: folder)
        let found = try await Program.run(["sources", "titles", "films", "--query", "nothing", "--cache", "c"], in: folder)
        // Then
        XCTAssertEqual(titles.status, 0, titles.errors)
        XCTAssertTrue(titles.text.contains("The First Film"), titles.text)
        XCTAssertFalse(found.text.contains("The First Film"), found.text)
    }

    func testStandardSourceIsItsSample() async throws {
        // Given
        try FileManager.default.createDirectory(at: folder.appending(path: "posters"), withIntermediateDirectories: true)
        for type in ["folder", "remote", "sample"] {
            // When
            let outcome = try await Program.run(["new-source", "films", "--type", type], in: folder)
            // Then the printed lines are a configuration
            XCTAssertEqual(outcome.status, 0, outcome.errors)
            try outcome.output.write(to: folder.appending(path: "onesheet.yaml"))
            let check = try await Program.run(["config", "check", "--cache", "c"], in: folder)
            XCTAssertEqual(check.status, 0, "\(outcome.text)\(check.errors)")
            let listed = try await Program.run(["sources"], in: folder)
            XCTAssertTrue(listed.text.hasPrefix("films"), listed.text)
        }
        let unknown = try await Program.run(["new-source", "films", "--type", "foldr"], in: folder)
        XCTAssertEqual(unknown.status, 1)
        XCTAssertTrue(unknown.errors.contains("did you mean “folder”?"), unknown.errors)
    }

    func testPackageIsWrittenWhole() async throws {
        // When
        let outcome = try await Program.run(["new-source", "my-films", "--type", "swift", "--package", "../copy"], in: folder)
        // Then the package depends on the copy, and its source is that of the repository's own template
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        let package = folder.appending(path: "my-films")
        let manifest = try String(contentsOf: package.appending(path: "Package.swift"), encoding: .utf8)
        let copy = folder.deletingLastPathComponent().appending(path: "copy").path
        XCTAssertTrue(manifest.contains(".package(name: \"onesheet\", path: \"\(copy)\")"), manifest)
        let files = try FileManager.default.subpathsOfDirectory(atPath: package.path).filter { $0.hasSuffix(".swift") }.sorted()
        XCTAssertEqual(
            files,
            [
                "Package.swift", "Sources/MyFilmsSource/MyFilmsSource.swift", "Sources/myfilms-server/main.swift",
                "Tests/MyFilmsSourceTests/MyFilmsSourceTests.swift",
            ])
        XCTAssertTrue(outcome.text.contains("my-films: { type: myfilms, pictures:"), outcome.text)
        // And nothing is overwritten, and without the place of Onesheet there is no package
        let again = try await Program.run(
            ["new-source", "my-films", "--type", "swift", "--package", "https://git.example/onesheet"], in: folder)
        XCTAssertEqual(again.status, 1)
        let without = try await Program.run(["new-source", "other", "--type", "swift"], in: folder)
        XCTAssertEqual(without.status, 64)
        XCTAssertTrue(without.errors.contains("--package"), without.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder.appending(path: "other").path))
    }

    func testNamesThatNoSourceCanHaveAreRefused() async throws {
        for name in ["Films", "http", "a b", "../x"] {
            let outcome = try await Program.run(["new-source", name], in: folder)
            XCTAssertEqual(outcome.status, 64, name)
            XCTAssertTrue(outcome.errors.contains("is not the name of a source"), outcome.errors)
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    }
}
