import Foundation
import Logging
import NIOCore
import OnesheetCore
import OnesheetPipeline
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// A folder whose files change while it is served, and between two starts.
final class FolderServingTests: ServerTestCase {
    func testThatNoPictureIsServedThatItsFileIsNot() async throws {
        // Given a folder with a picture that was served, and its list
        let pictures = folder()
        let cache = folder()
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        let (first, second) = (try await sample(1), try await sample(2))
        try first.write(to: URL(filePath: "\(pictures)/film.jpg"))
        var installation = try installation(pictures, cache)
        try await installation.catchUp(with: "art")
        var answers = try await [served(installation)]
        var lists = try await [list(installation)]

        // When its file changes, and another comes
        try second.write(to: URL(filePath: "\(pictures)/film.jpg"))
        try first.write(to: URL(filePath: "\(pictures)/other.jpg"))
        try await installation.catchUp(with: "art")
        answers += try await [served(installation)]
        lists += try await [list(installation)]

        // And when it changes while nobody looks
        try await installation.shutdown()
        try first.write(to: URL(filePath: "\(pictures)/film.jpg"))
        installation = try self.installation(pictures, cache)
        try await installation.catchUp(with: "art")
        answers += try await [served(installation)]
        try FileManager.default.removeItem(atPath: "\(pictures)/film.jpg")
        try await installation.catchUp(with: "art")

        // Then
        XCTAssertEqual(answers, [first, second, first])
        XCTAssertEqual(lists, [["film"], ["film", "other"]])
        do {
            _ = try await served(installation)
            XCTFail("a picture was served that is gone")
        } catch {
            XCTAssertEqual(error as? PipelineError, .source("art", .notFound(id: "film")))
        }
        try await installation.shutdown()
    }

    private func installation(_ pictures: String, _ cache: String) throws -> Installation {
        let configuration = try ConfigurationFile(environment: [:]).parse(
            """
            cache: { disk: { path: "\(cache)" } }
            sources: { art: { type: folder, path: "\(pictures)" } }
            """)
        return try Installation(configuration, .standard, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func served(_ installation: Installation) async throws -> Data {
        let title = TitleReference(source: "art", id: "film")
        return Data(try await installation.pipeline.image(for: ImageRequest(title, Transform())).entry.body.readableBytesView)
    }

    private func list(_ installation: Installation) async throws -> [String] {
        try await installation.catalog.titles(of: "art", TitleQuery()).titles.map(\.id)
    }

    private func sample(_ number: Int) async throws -> Data {
        let server = try await server()
        return Data(try await server.send("/t/p/w92/sample/\(number).jpg").body.readableBytesView)
    }
}
