import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// The images for what does not exist.
final class FallbackImageTests: ServerTestCase {
    private let missing = "/t/p/w342/sample/404.jpg"

    func testAnErrorStaysAnErrorUnlessAClientAsks() async throws {
        let server = try await server()
        assertProblem(try await server.send(missing), 404, "404")
        let never = try await self.server(
            keys: "fallback: { given: never }\ndialects: [{ rpdb: { source: sample, keys: [{ key: a-good-key }] } }]")
        let answer = try await never.send("/a-good-key/tmdb/poster-default/series-404.jpg?fallback=true")
        XCTAssertEqual(answer.status, 404, answer.text)
    }

    func testAClientThatAsksGetsADrawnImage() async throws {
        // Given
        let server = try await server(keys: "dialects: [{ rpdb: { source: sample, keys: [{ key: a-good-key }] } }]")
        for (path, size, kind) in [
            ("poster-default/series-404.jpg", "580x859", "poster"), ("backdrop-default/series-404.jpg", "1280x720", "backdrop"),
            ("logo-default/series-404.png", "634x244", "logo"),
        ] {
            let address = "/a-good-key/tmdb/\(path)"
            // When it asks, then it gets one
            let asked = try await server.send("\(address)?fallback=true")
            XCTAssertEqual(asked.status, 200, asked.text)
            XCTAssertEqual(asked.field("Onesheet-Size"), size, path)
            XCTAssertEqual(asked.field("Onesheet-Fallback"), kind)
            // And without asking an error
            let other = try await server.send(address)
            XCTAssertEqual(other.status, 404, other.text)
        }
    }

    func testAllAddressesMayHaveOne() async throws {
        // Given
        let server = try await server(keys: "fallback: { given: always, status: 404, expires: 2m }")
        for path in ["/t/p/w342/sample/404.jpg", "/t/p/w342.backdrop/sample/1", "/i/unsafe/w:342/plain/sample://404@png"] {
            for method in ["GET", "HEAD", "GET"] {
                // When
                let answer = try await server.send(path, method: method)
                // Then it is an image that says that there is none
                XCTAssertEqual(answer.status, 404, "\(path) \(answer.text.prefix(200))")
                XCTAssertTrue(answer.field("Content-Type")?.hasPrefix("image/") ?? false, path)
                XCTAssertEqual(answer.field("Onesheet-Fallback"), path.contains("backdrop") ? "backdrop" : "poster", path)
                XCTAssertEqual(answer.field("Cache-Control"), "public, max-age=120", path)
                for name in ["ETag", "Last-Modified", "Link", "Accept-Ranges"] { XCTAssertNil(answer.field(name), name) }
                XCTAssertTrue(answer.field("Onesheet-Size")?.hasPrefix("342x") ?? false, path)
            }
        }
        // And images that exist, and other errors, are as always
        let (image, bad) = (try await server.send("/t/p/w342/sample/1.jpg"), try await server.send("/t/p/w343x/sample/1.jpg"))
        XCTAssertEqual(image.status, 200)
        XCTAssertNil(image.field("Onesheet-Fallback"))
        assertProblem(bad, 400, "w343x")
    }

    func testItIsNotTheTruth() async throws {
        // Given a folder without an image, and a client that has got the fallback image
        let films = folder()
        try FileManager.default.createDirectory(atPath: films, withIntermediateDirectories: true)
        let server = try await server(
            sources: "films: { type: folder, path: \"\(films)\" }", keys: "fallback: { given: always }")
        let before = try await server.send("/t/p/w92/films/one.jpg")
        XCTAssertEqual(before.field("Onesheet-Fallback"), "poster", before.text)
        XCTAssertEqual(before.status, 200)
        // When the image comes
        try Data(Picture.jpeg(width: 100, height: 150).readableBytesView).write(to: URL(filePath: "\(films)/one.jpg"))
        // Then it is served, also to a client that has the other one
        try await waitUntil {
            let answer = try await server.send("/t/p/w92/films/one.jpg")
            return answer.status == 200 && answer.field("Onesheet-Fallback") == nil
        }
    }

    func testAFileMayBeTheImageOfAKind() async throws {
        // Given
        let file = "\(folder()).png"
        try Data(Picture.jpeg(width: 300, height: 200).readableBytesView).write(to: URL(filePath: file))
        addTeardownBlock { try FileManager.default.removeItem(atPath: file) }
        let server = try await server(keys: "fallback: { given: always, images: { poster: \"\(file)\" } }")
        // When
        let answer = try await server.send("/t/p/w92/sample/404.jpg")
        // Then
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(answer.field("Onesheet-Size"), "92x61")
        let drawn = try await server.send("/t/p/w92.logo/sample/404")
        XCTAssertEqual(drawn.field("Onesheet-Fallback"), "logo")
    }

    func testWrongKeysAreErrors() throws {
        let folder = folder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = "\(folder)/none.png"
        try Data("no image".utf8).write(to: URL(filePath: text))
        let cut = "\(folder)/cut.jpg"
        try Data(Picture.jpeg(width: 300, height: 200).readableBytesView.prefix(700)).write(to: URL(filePath: cut))
        for (keys, words) in [
            ("status: 500", "fallback.status"), ("expires: 2d", "fallback.expires"), ("given: often", "occasion"),
            ("images: { postr: a.png }", "postr"), ("images: { poster: \"\(folder)/absent.png\" }", "does not exist"),
            ("images: { poster: \"\(text)\" }", "cannot be used"), ("images: { poster: \"\(cut)\" }", "cannot be used"),
        ] {
            XCTAssertThrowsError(
                try ServerContext.examined(
                    try ConfigurationFile(environment: [:]).parse("fallback: { \(keys) }\nsources: { sample: { type: sample } }"),
                    .standard, logger: RunningServer.silent), keys
            ) { error in XCTAssertTrue("\(error)".contains(words), "\(keys): \(error)") }
        }
    }
}
