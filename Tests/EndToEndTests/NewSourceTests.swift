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

    func testNamesThatNoSourceCanHaveAreRefused() async throws {
        for name in ["Films", "http", "a b", "../x"] {
            let outcome = try await Program.run(["new-source", name], in: folder)
            XCTAssertEqual(outcome.status, 64, name)
            XCTAssertTrue(outcome.errors.contains("is not the name of a source"), outcome.errors)
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    }
}
