import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// IIIF Image API 3.0, level 2, according to its compliance document.
final class IIIFTests: ServerTestCase {
    /// A server with a picture of 300 × 450 at its origin, and the base URI of that picture.
    private func server(keys: String = "") async throws -> (RunningServer, String) {
        let picture = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: picture) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }", keys: "dialects: [iiif]\n\(keys)")
        return (server, "/iiif/3/" + origin.url.replacing(":", with: "%3A").replacing("/", with: "%2F") + "%2Fa.jpg")
    }

    func testThatTheDocumentSaysWhatTheServerDoes() async throws {
        // Given an uncached picture
        let (server, base) = try await server()
        // When its document is requested
        let answer = try await server.send("\(base)/info.json", fields: [("X-Forwarded-Proto", "https")])
        // Then it follows the specification, and every page may read it
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(answer.field("Content-Type"), "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\"")
        XCTAssertEqual(answer.field("Access-Control-Allow-Origin"), "*")
        // And others may keep it, by what it depends on
        XCTAssertEqual(answer.field("Cache-Control"), "public, max-age=60")
        XCTAssertEqual(answer.field("Vary"), "X-Forwarded-Proto, Accept-Encoding")
        let tag = try XCTUnwrap(answer.field("ETag"))
        let known = try await server.send(
            "\(base)/info.json", fields: [("X-Forwarded-Proto", "https"), ("If-None-Match", tag)])
        XCTAssertEqual(known.status, 304)
        XCTAssertEqual(known.field("Access-Control-Allow-Origin"), "*")
        XCTAssertTrue(answer.text.hasPrefix("{\"@context\":\"http://iiif.io/api/image/3/context.json\""), answer.text)
        let document = try answer.json()
        XCTAssertEqual(document["id"] as? String, server.url.replacing("http:", with: "https:") + base)
        for (key, value) in [("type", "ImageService3"), ("protocol", "http://iiif.io/api/image"), ("profile", "level2")] {
            XCTAssertEqual(document[key] as? String, value)
        }
        XCTAssertEqual(document["width"] as? Int, 300)
        XCTAssertEqual(document["height"] as? Int, 450)
        XCTAssertEqual(document["maxArea"] as? Int, 32_000_000)
        // And every listed size and tile exists
        let sizes = try XCTUnwrap(document["sizes"] as? [[String: Int]])
        XCTAssertEqual(sizes.map { $0["width"] }, [92, 154, 185, 300])
        for size in sizes {
            let (width, height) = (try XCTUnwrap(size["width"]), try XCTUnwrap(size["height"]))
            try await assertSize("\(base)/full/\(width),\(height)/0/default.jpg", width: width, height: height, on: server)
        }
        let tiles = try XCTUnwrap(document["tiles"] as? [[String: Any]])
        XCTAssertEqual(tiles.first?["width"] as? Int, 512)
        XCTAssertEqual(tiles.first?["scaleFactors"] as? [Int], [1])
        // And again after a variant has revealed the size
        let again = try await server.send("\(base)/info.json")
        XCTAssertEqual(try again.json()["height"] as? Int, 450)
    }

    func testThatRegionsAndSizesAreThoseAskedFor() async throws {
        let (server, base) = try await server()
        for (parameters, width, height) in [
            ("full/max", 300, 450), ("square/max", 300, 300), ("0,0,100,50/max", 100, 50), ("250,400,100,100/max", 50, 50),
            ("full/150,", 150, 225), ("full/,90", 60, 90), ("full/100,100", 100, 100), ("full/!100,100", 67, 100),
            ("full/!1000,1000", 300, 450), ("square/100,", 100, 100), ("square/,100", 100, 100), ("square/100,100", 100, 100),
            ("square/!50,100", 50, 50), ("100,100,200,100/100,", 100, 50), ("100,100,200,100/100,100", 100, 100),
        ] {
            try await assertSize("\(base)/\(parameters)/0/default.jpg", width: width, height: height, on: server)
        }
        for parameters in [
            "full/301,", "full/,451", "full/301,450", "full/300,451", "square/301,", "0,0,100,50/101,", "250,0,100,9/51,",
        ] {
            // Twice: it is still too large when the smaller picture is in the cache.
            for _ in 0..<2 {
                let answer = try await server.send("\(base)/\(parameters)/0/default.jpg")
                assertProblem(answer, 400, "is larger than the region", context: parameters)
            }
        }
    }

    func testThatTheRegionIsTheOneAtThatPlace() async throws {
        // Given the region and the same part from a free transform
        let (server, base) = try await server()
        let region = try await server.send("\(base)/100,200,50,40/max/0/default.png")
        let other = try await server.send("\(base)/101,200,50,40/max/0/default.png")
        // Then another position gives another picture
        XCTAssertEqual(try Picture.header(region.body).width, 50)
        XCTAssertNotEqual(region.body, other.body)
    }

    func testThatTheBaseLeadsToTheDocument() async throws {
        let (server, base) = try await server()
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
        addTeardownBlock { try await client.shutdown() }
        let answer = try await client.execute(HTTPClientRequest(url: server.url + base), timeout: .seconds(60))
        XCTAssertEqual(answer.status.code, 303)
        XCTAssertEqual(answer.headers.first(name: "Location"), base + "/info.json")
        XCTAssertEqual(answer.headers.first(name: "Access-Control-Allow-Origin"), "*")
    }

    func testThatEveryPageMayReadTheImagesAndOthersNot() async throws {
        let (server, base) = try await server()
        // Twice: from the pipeline and from the fast path.
        for _ in 0..<2 {
            let image = try await server.send("\(base)/full/92,/0/default.jpg")
            XCTAssertEqual(image.field("Access-Control-Allow-Origin"), "*")
            let known = try await server.send(
                "\(base)/full/92,/0/default.jpg", fields: [("If-None-Match", try XCTUnwrap(image.field("ETag")))])
            XCTAssertEqual(known.status, 304)
            XCTAssertEqual(known.field("Access-Control-Allow-Origin"), "*")
        }
        let own = try await server.send("/i/unsafe/w:92/plain/" + base.dropFirst("/iiif/3/".count) + "@jpg")
        XCTAssertEqual(own.status, 200)
        XCTAssertNil(own.field("Access-Control-Allow-Origin"))
    }

    func testThatWithPresetsOnlyTheDocumentPromisesTheWholePicture() async throws {
        let (server, base) = try await server(keys: "presetsOnly: true\npresets: { card: \"w:60\" }")
        let document = try await server.send("\(base)/info.json").json()
        XCTAssertEqual(document["profile"] as? String, "level0")
        XCTAssertNil(document["sizes"])
        XCTAssertNil(document["tiles"])
        try await assertSize("\(base)/full/max/0/default.jpg", width: 300, height: 450, on: server)
    }

    func testThatWhereSignaturesAreNeededThereIsNoDocument() async throws {
        let (server, base) = try await server(keys: "signing: { keys: [{ key: \"aa\", salt: \"01\" }] }")
        for path in [base, "\(base)/info.json", "\(base)/full/max/0/default.jpg"] {
            let answer = try await server.send(path)
            assertProblem(answer, 403, "signing.unsafe", context: path)
        }
    }

    private func assertSize(
        _ path: String, width: Int, height: Int, on server: RunningServer, line: UInt = #line
    ) async throws {
        let answer = try await server.send(path)
        XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(200))", line: line)
        let header = try Picture.header(answer.body)
        XCTAssertEqual([header.width, header.height], [width, height], path, line: line)
    }
}
