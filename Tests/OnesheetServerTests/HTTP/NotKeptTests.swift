import Foundation
import Logging
import NIOCore
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// Pictures whose origin forbids to store them.
final class NotKeptTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testPictureThatMayNotBeStoredIsCountedAsMadeAndNotKept() async throws {
        for field in ["no-store", "private", "no-cache, no-store, max-age=0, must-revalidate"] {
            // Given an origin that forbids to store its picture
            let (server, origin) = try await server(field)
            // When it is prefetched twice
            let order = "{\"source\": \"web\", \"ids\": [\"\(origin.url)/a\"], \"sizes\": [\"w92\", \"w154\"]}"
            for _ in 0..<2 {
                let answer = try await server.send("/prefetch", method: "POST", fields: administrator, body: order)
                // Then the summary says that nothing is kept
                XCTAssertEqual(try answer.json()["made"] as? Int, 2, answer.text)
                XCTAssertEqual(try answer.json()["notKept"] as? Int, 2, answer.text)
            }
            XCTAssertEqual(origin.requests(), 2, field)
            // And so do the metrics
            let metrics = try await server.send("/metrics").text
            XCTAssertTrue(metrics.contains("onesheet_images_not_kept_total 4\n"), metrics)
        }
    }

    func testScheduledPrefetchSaysItInTheLog() async throws {
        // Given a service with a film whose poster may not be stored, and a schedule
        let (picture, lines, clock, folder) = (try Picture.jpeg(), LogLines(), ManualClock(), folder())
        let origin = try await origin { target, _ in
            let documents = [
                "/films": #"{"films":[{"id":"1","name":"One"}]}"#, "/films/1/images": #"{"images":[{"url":"/a.jpg"}]}"#,
            ]
            guard let document = documents[target] else {
                return .answer(type: "image/jpeg", fields: ["Cache-Control": "no-store"], body: picture)
            }
            return .answer(type: "application/json", body: ByteBuffer(string: document))
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(
            """
            baseURL: \(origin.url)
            list: { get: "/films", items: /films, fields: { id: /id, name: /name } }
            title: { get: "/films/{id}", fields: { id: /id, name: /name } }
            candidates: { get: "/films/{id}/images", items: /images, fields: { prefix: "\(origin.url)", url: /url } }
            """.utf8
        ).write(to: URL(filePath: "\(folder)/films.yaml"))
        let configuration = try ConfigurationFile(environment: [:]).parse(
            """
            cache: { disk: { path: "\(folder)/cache" } }
            sources: { films: { type: rest, manifest: "\(folder)/films.yaml", networks: [loopback] } }
            prefetch: [{ at: "06:00", source: films, sizes: [w92, w154] }]
            """)
        let context = try ServerContext(configuration, .standard, clock: clock.wallClock, logger: lines.logger(level: .notice))
        addTeardownBlock { try await context.shutdown() }
        let schedule = PrefetchSchedule(context: context)
        await schedule.runDue()
        // When its time has come
        clock.advance(by: .seconds(86_400))
        await schedule.runDue()
        // Then the log says that nothing is kept, and how to keep it
        let line = lines.all.first { $0.contains("prefetched images were made, not kept") }
        XCTAssertTrue(line?.contains("freshness: { store: always }") ?? false, "\(lines.all)")
        XCTAssertTrue(line?.contains("images=2") ?? false, "\(lines.all)")
    }

    func testSourceCanStoreThemAlways() async throws {
        for field in ["no-store", "private"] {
            let (server, origin) = try await server(field, freshness: "store: always")
            for _ in 0..<2 {
                let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
                XCTAssertEqual(answer.status, 200)
                XCTAssertTrue(answer.field("Cache-Control")?.contains("max-age=") ?? false, "\(answer.fields)")
            }
            XCTAssertEqual(origin.requests(), 1, field)
            let metrics = try await server.send("/metrics").text
            XCTAssertTrue(metrics.contains("onesheet_images_not_kept_total 0\n"), metrics)
        }
    }

    func testAnotherWordIsRefusedWithThoseThereAre() throws {
        let text = "sources: { web: { type: remote, allow: [\"https://a.example/\"], freshness: { store: never } } }"
        let (configuration, errors) = try ConfigurationFile(environment: [:]).examine(text: text, file: "a.yaml")
        let found = try ConfigurationCheck.errors(of: configuration, .standard, besides: errors, logger: RunningServer.silent)
        XCTAssertTrue("\(found)".contains("“never” is neither allowed nor always"), "\(found)")
    }

    private func server(_ field: String, freshness: String = "minimum: 1h") async throws -> (RunningServer, OriginServer) {
        let picture = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", fields: ["Cache-Control": field], body: picture) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback], freshness: { \(freshness) } }",
            keys: "admin: { token: secret-for-tests }")
        return (server, origin)
    }
}
