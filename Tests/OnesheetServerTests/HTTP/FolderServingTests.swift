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
        // Given a folder with a served picture, and its list
        let pictures = folder()
        let cache = folder()
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        let (first, second) = (try await sample(1), try await sample(2))
        try first.write(to: URL(filePath: "\(pictures)/film.jpg"))
        var context = try context(pictures, cache)
        try await context.dropOutdated(of: "art")
        var answers = try await [served(context)]
        var lists = try await [list(context)]

        // When its file changes, and another is added
        try second.write(to: URL(filePath: "\(pictures)/film.jpg"))
        try first.write(to: URL(filePath: "\(pictures)/other.jpg"))
        try await context.dropOutdated(of: "art")
        answers += try await [served(context)]
        lists += try await [list(context)]

        // And when it changes while no client requests it
        try await context.shutdown()
        try first.write(to: URL(filePath: "\(pictures)/film.jpg"))
        context = try self.context(pictures, cache)
        try await context.dropOutdated(of: "art")
        answers += try await [served(context)]
        try FileManager.default.removeItem(atPath: "\(pictures)/film.jpg")
        try await context.dropOutdated(of: "art")

        // Then
        XCTAssertEqual(answers, [first, second, first])
        XCTAssertEqual(lists, [["film"], ["film", "other"]])
        do {
            _ = try await served(context)
            XCTFail("a picture was served that is gone")
        } catch {
            XCTAssertEqual(error as? Failure, .source("art", .notFound(id: "film")))
        }
        try await context.shutdown()
    }

    private func context(_ pictures: String, _ cache: String) throws -> ServerContext {
        let configuration = try ConfigurationFile(environment: [:]).parse(
            """
            cache: { disk: { path: "\(cache)" } }
            sources: { art: { type: folder, path: "\(pictures)" } }
            """)
        return try ServerContext(configuration, .standard, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func served(_ context: ServerContext) async throws -> Data {
        let title = TitleReference(source: "art", id: "film")
        return Data(try await context.pipeline.image(for: ImageRequest(title, Transform())).entry.body.readableBytesView)
    }

    private func list(_ context: ServerContext) async throws -> [String] {
        try await context.catalog.titles(of: "art", TitleQuery()).titles.map(\.id)
    }

    private func sample(_ number: Int) async throws -> Data {
        let server = try await server()
        return Data(try await server.send("/t/p/w92/sample/\(number).jpg").body.readableBytesView)
    }
}
