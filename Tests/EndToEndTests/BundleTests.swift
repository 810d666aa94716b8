import Foundation
import XCTest

/// `onesheet bundle`, whose archive the system's tar can read.
final class BundleTests: CommandTestCase {
    func testThatAnArchiveHoldsTitlesAndPostersAndIsTheSameEachTime() async throws {
        // Given two bundles of the sample source, made with separate caches, of which one has originals that another process drew
        try Program.copyOriginals(to: folder.appending(path: "b"))
        // A size that is named twice is one file.
        for (name, sizes) in [("a", "w92"), ("b", "w92,w92")] {
            let outcome = try await Program.run(
                ["bundle", "sample", "--sizes", sizes, "--formats", "jpg,png", "-o", "\(name).tar", "--cache", name], in: folder)
            XCTAssertEqual(outcome.status, 0, outcome.errors)
        }
        // When tar unpacks one
        let tar = Process()
        tar.executableURL = URL(filePath: "/bin/tar")
        tar.arguments = ["-xf", "a.tar"]
        tar.currentDirectoryURL = folder
        try tar.run()
        tar.waitUntilExit()
        // Then both have the same bytes, and each poster is at its place in the index
        XCTAssertEqual(tar.terminationStatus, 0)
        XCTAssertEqual(try Data(contentsOf: file("a.tar")), try Data(contentsOf: file("b.tar")))
        let index = try XCTUnwrap(
            try JSONSerialization.jsonObject(with: Data(contentsOf: file("index.json"))) as? [String: Any])
        let titles = try XCTUnwrap(index["titles"] as? [[String: Any]])
        let days = try XCTUnwrap(index["days"] as? [[String: Any]])
        XCTAssertEqual(days.map { ($0["titles"] as? [String])?.count }, [titles.count])
        for title in titles {
            let posters = try XCTUnwrap(title["posters"] as? [String: [String: Any]])
            XCTAssertEqual(posters.keys.sorted(), ["w92.jpg", "w92.png"])
            let placeholder = try XCTUnwrap(title["placeholder"] as? [String: Any])
            XCTAssertGreaterThan(placeholder["width"] as? Int ?? 0, 500)
            XCTAssertGreaterThan(placeholder["height"] as? Int ?? 0, 500)
            XCTAssertNotNil(Data(base64Encoded: try XCTUnwrap(placeholder["thumbHash"] as? String)))
            XCTAssertEqual((placeholder["color"] as? String)?.count, 7)
            for poster in posters.values {
                let path = try XCTUnwrap(poster["path"] as? String)
                XCTAssertEqual(try Data(contentsOf: file(path)).count, poster["bytes"] as? Int, path)
            }
        }
    }

    func testThatAnArchiveThatCannotBeWrittenLeavesNothing() async throws {
        let outcome = try await Program.run(["bundle", "sample", "-o", "none/a.tar", "--cache", "c"], in: folder)
        XCTAssertEqual(outcome.errors, "onesheet: cannot write none/a.tar: No such file or directory\n")
        let unknown = try await Program.run(["bundle", "nobody", "-o", "a.tar", "--cache", "c"], in: folder)
        XCTAssertEqual(unknown.errors, "onesheet: unknown source “nobody”; known: sample\n")
        let size = try await Program.run(["bundle", "sample", "--sizes", "w9", "-o", "a.tar", "--cache", "c"], in: folder)
        XCTAssertNotEqual(size.status, 0)
        XCTAssertTrue(size.errors.contains("w9"), size.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["c"])
    }

    private func file(_ path: String) -> URL { folder.appending(path: path) }
}
