import Foundation
import NIOCore
import OnesheetTesting
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

    func testEveryRefusalNamesTheRequestAndItsStatus() async throws {
        // Given a service without a list, whose images are elsewhere than the manifest says, or are gone
        let folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(at: folder) }
        let origin = try await OriginServer.start { target, _ in
            let documents = [
                "/films": #"{"films":[]}"#, "/films/1": #"{"id":"1","name":"One"}"#,
                "/films/1/images": #"{"images":[{"url":"/gone.jpg"}]}"#,
            ]
            guard let document = documents[target] else { return .answer(status: 404) }
            return .answer(type: "application/json", body: ByteBuffer(string: document))
        }
        addTeardownBlock { try await origin.stop() }
        func manifest(_ items: String) -> String {
            """
            baseURL: \(origin.url)
            faults: [{ status: 404, reason: notFound }]
            list: { get: "/films", items: /films, fields: { id: /id, name: /name } }
            title: { get: "/films/{id}", fields: { id: /id, name: /name } }
            candidates: { get: "/films/{id}/images", items: \(items), fields: { prefix: "\(origin.url)", url: /url } }
            """
        }
        try Data(manifest("/posters").utf8).write(to: folder.appending(path: "wrong.yaml"))
        try Data(manifest("/images").utf8).write(to: folder.appending(path: "gone.yaml"))
        try Data(
            """
            sources:
              wrong: { type: rest, manifest: ./wrong.yaml, networks: [loopback] }
              gone: { type: rest, manifest: ./gone.yaml, networks: [loopback] }
              web: { type: remote, allow: ["\(origin.url)/"], networks: [loopback] }
            """.utf8
        ).write(to: folder.appending(path: "onesheet.yaml"))
        for (arguments, lines) in [
            (
                ["wrong", "--id", "1"],
                [
                    "newest list": "(GET \(origin.url)/films: 200)", "candidates of 1": "(GET \(origin.url)/films/1/images: 200)",
                    "poster of 1": "(GET \(origin.url)/films/1/images: 200)",
                ]
            ), (["gone", "--id", "1"], ["poster of 1": "(GET \(origin.url)/gone.jpg: 404)"]),
            (
                ["wrong", "--id", "2"],
                [
                    "title 2": "(GET \(origin.url)/films/2: 404)", "poster of 2": "(GET \(origin.url)/films/2/images: 404)",
                    "rules": "name one with --id",
                ]
            ),
            (["web", "--id", "\(origin.url)/gone.jpg"], ["poster of \(origin.url)/gone.jpg": "(GET \(origin.url)/gone.jpg: 404)"]),
            (
                ["web", "--id", "https://other.example/a.jpg"],
                ["title https://other.example/a.jpg": "source web does not allow https://other.example/a.jpg"]
            ),
        ] {
            // When it is checked
            let check = try await Program.run(["sources", "check"] + arguments + ["--cache", "c"], in: folder)
            // Then each refusal names what was requested, and the answer
            XCTAssertEqual(check.status, 1)
            for (step, words) in lines {
                let line = check.text.split(separator: "\n").first { $0.hasPrefix("✗ \(step): ") }
                XCTAssertTrue(line?.contains(words) ?? false, "\(arguments) \(step)\n\(check.text)\(check.errors)")
            }
            XCTAssertFalse(check.text.contains("Mutex") && lines["rules"] != nil, check.text)
        }
    }
}
