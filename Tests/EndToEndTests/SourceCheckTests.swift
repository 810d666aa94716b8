import Foundation
import XCTest

/// `onesheet sources check` during the development of a source.
final class SourceCheckTests: XCTestCase {
    func testThatAnAnswerThatWasKeptDoesNotHideThatTheSourceIsBrokenNow() async throws {
        // Given a source with a cached list
        let folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(at: folder) }
        let program = folder.appending(path: "films.sh")
        let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../examples/exec-source")
        try FileManager.default.copyItem(at: examples.appending(path: "films.sh"), to: program)
        try Data("sources: { films: { type: exec, command: [./films.sh] } }\n".utf8).write(
            to: folder.appending(path: "onesheet.yaml"))
        let titles = try await Program.run(["sources", "titles", "films", "--cache", "c"], in: folder)
        XCTAssertEqual(titles.status, 0, titles.errors)
        // When its author breaks it
        try Data("#!/bin/sh\necho hello\n".utf8).write(to: program)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
        let check = try await Program.run(["sources", "check", "films", "--cache", "c", "--id", "1"], in: folder)
        // Then the check reports that
        XCTAssertEqual(check.status, 1)
        XCTAssertTrue(check.text.contains("✗ newest list: source films: "), check.text + check.errors)
        XCTAssertTrue(check.text.contains("✗ title 1: source films: "), check.text)
    }
}
