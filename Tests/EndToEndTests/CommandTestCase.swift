import Foundation
import XCTest

/// A test that runs commands in a folder of its own.
class CommandTestCase: XCTestCase {
    private(set) var folder = URL(filePath: "/")

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { [folder] in try FileManager.default.removeItem(at: folder) }
    }

    func run(_ arguments: [String]) async throws -> Program.Outcome { try await Program.run(arguments, in: folder) }

    /// The numbers in a JSON document.
    func summary(_ outcome: Program.Outcome) throws -> [String: Int] {
        let document = try XCTUnwrap(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any], outcome.errors)
        return document.compactMapValues { $0 as? Int }.filter { ["total", "made", "skipped", "entries"].contains($0.key) }
    }
}
