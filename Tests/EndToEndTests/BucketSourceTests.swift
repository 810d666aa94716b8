import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import S3Store
import XCTest

/// A private bucket as a source, in real stores.
final class BucketSourceTests: ClusterTestCase {
    func testImagesOfAPrivateBucketInSeaweedFS() async throws { try await tryImages(in: .weed) }

    func testImagesOfAPrivateBucketInRclone() async throws { try await tryImages(in: .rclone) }

    private func tryImages(in kind: StoreEngine.Kind) async throws {
        // Given a private bucket with posters and a logo
        let engine = try await store(kind)
        var context = PluginContext.forTesting()
        context.clock = .system
        let bucket = try S3Store(
            .init(
                endpoint: engine.url, bucket: StoreEngine.bucket, accessKey: StoreEngine.accessKey,
                secretKey: StoreEngine.secretKey, deadline: Interval(.seconds(30))), context: context)
        addTeardownBlock { await bucket.shutdown() }
        func put(_ width: Int, _ name: String) async throws {
            let file = try DrawnPoster(width: width, height: 60).file(JPEGCodec())
            _ = try await bucket.put(ByteBuffer(bytes: file), as: name, if: .none)
        }
        for (width, name) in [(40, "poster/films/영화 1.jpg"), (44, "poster/550.jpg"), (50, "logo/550.jpg"), (50, "other/551.jpg")] {
            try await put(width, name)
        }
        let url = try await serve(engine.url, secretKey: StoreEngine.secretKey)
        // When they are requested, then each is its object
        for (path, size) in [
            ("t/p/original/own/films%2F%EC%98%81%ED%99%94%201", "40x60"), ("t/p/original/own/550", "44x60"),
            ("t/p/original.logo/own/550", "50x60"), ("i/unsafe/w:22/plain/s3://\(StoreEngine.bucket)/poster/550.jpg@jpg", "22x30"),
        ] {
            let answer = try await WebAnswer.to("\(url)/\(path)")
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text)")
            XCTAssertEqual(answer.field("Onesheet-Size"), size, path)
        }
        // And the titles are the objects with the beginning
        let list = try await WebAnswer.to("\(url)/sources/own/titles").text
        XCTAssertTrue(list.contains("\"550\"") && list.contains("영화 1") && !list.contains("551"), list)
        for path in ["/t/p/original/own/551", "/t/p/original.logo/own/films%2F%EC%98%81%ED%99%94%201", "/sources/own/titles/551"] {
            let missing = try await WebAnswer.to(url + path)
            XCTAssertEqual(missing.status, 404, "\(path) \(missing.text.prefix(200))")
        }
        // And a changed object is a changed image, because it is asked for again each time
        try await put(48, "poster/550.jpg")
        let changed = try await WebAnswer.to("\(url)/t/p/original/own/550")
        XCTAssertEqual(changed.field("Onesheet-Size"), "48x60", changed.text)
        // And a server with another key gets none
        let stranger = try await serve(engine.url, secretKey: "another-secret")
        let refused = try await WebAnswer.to("\(stranger)/t/p/original/own/550")
        XCTAssertEqual(refused.status, 502, refused.text)
    }

    private func serve(_ endpoint: String, secretKey: String) async throws -> String {
        let configuration = """
            sources:
              own:
                type: s3
                endpoint: "\(endpoint)"
                bucket: \(StoreEngine.bucket)
                accessKey: \(StoreEngine.accessKey)
                secretKey: \(secretKey)
                objects: { poster: "poster/{id}.jpg", logo: "logo/{id}.jpg" }
                freshness: { maximum: 0s, staleWhileRevalidate: 0s }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "\(secretKey).yaml"))
        let (process, url, _) = try await Program.serveWithLog(["--config", "\(secretKey).yaml", "--cache", secretKey], in: folder)
        addTeardownBlock {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        return url
    }
}
