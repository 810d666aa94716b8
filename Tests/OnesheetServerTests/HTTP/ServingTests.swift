import OnesheetAddress
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Responses of a server with the sample source.
final class ServingTests: ServerTestCase {
    func testThatAPosterComesInTheSizeAskedFor() async throws {
        // Given a server
        let server = try await server()
        for width in SizeLadder.widths {
            // When a size is requested
            let answer = try await server.send("/t/p/w\(width)/sample/1.jpg")
            // Then the JPEG has exactly that width and a poster's shape
            let header = try Picture.header(answer.body)
            XCTAssertEqual(answer.status, 200)
            XCTAssertEqual(answer.field("Content-Type"), "image/jpeg")
            XCTAssertEqual(header.format, .jpeg)
            XCTAssertEqual(header.width, width)
            XCTAssertEqual(header.height, Int((Double(width) * 1.5).rounded()))
        }
    }

    func testThatWithoutAnExtensionAcceptDecides() async throws {
        // Given a server
        let server = try await server()
        // When a PNG is requested
        let answer = try await server.send("/t/p/w92/sample/1", fields: [("Accept", "image/png")])
        // Then the response is a PNG, and caches learn that it varies
        XCTAssertEqual(try Picture.header(answer.body).format, .png)
        XCTAssertEqual(answer.field("Vary"), "Accept")
        let other = try await server.send("/t/p/w92/sample/1")
        XCTAssertEqual(try Picture.header(other.body).format, .jpeg)
    }

    func testThatTheOriginalIsWhatTheOriginSent() async throws {
        // Given an origin
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        // When the original is requested
        let answer = try await server.send("/t/p/original/web/\(PercentEncoding.encode(id: origin.url + "/1"))")
        // Then its bytes are unchanged
        XCTAssertEqual(answer.body, body)
    }

    func testThatAFreeTransformWorksInBothForms() async throws {
        // Given a server on loopback
        let server = try await server()
        for path in ["/i/unsafe/rs:fill:60:90/q:75/plain/sample://1@png", "/i/unsafe/rs:fill:60:90/q:75/c2FtcGxlOi8vMQ.png"] {
            // When a transform is requested
            let answer = try await server.send(path)
            // Then the picture is correct
            let header = try Picture.header(answer.body)
            XCTAssertEqual([header.width, header.height], [60, 90], path)
            XCTAssertEqual(header.format, .png, path)
        }
    }

    func testThatARemoteURLIsTransformed() async throws {
        // Given an origin on the allow-list of a remote source
        let body = try Picture.jpeg(width: 200, height: 300)
        let origin = try await origin { _, _ in .answer(type: "text/html", body: body) }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        // When its picture has a wrong media type
        let answer = try await server.send(
            "/i/unsafe/rs:fit:50:0/plain/\(origin.url)/a.jpg?x=1@jpg".replacingOccurrences(of: "?", with: "%3F"))
        // Then the bytes decide
        XCTAssertEqual(try Picture.header(answer.body).width, 50)
        XCTAssertEqual(origin.requests(for: "/a.jpg?x=1"), 1)
    }

    func testThatATruncatedOriginalIsTakenWhereTheConfigurationSaysSo() async throws {
        // Given an origin with a truncated picture, and a server that accepts it
        let whole = try Picture.jpeg()
        let half = whole.getSlice(at: 0, length: whole.readableBytes / 2) ?? ByteBuffer()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: half) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }",
            keys: "rendering: { acceptTruncated: true, linearLight: false, codecs: { png: { effort: 1 } } }")
        // When it is requested
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@png")
        // Then it has the full size
        XCTAssertEqual(try Picture.header(answer.body).height, 90)
    }

    func testThatAServerFindsTheQualityOfItsPictures() async throws {
        // Given a server that does, and one that does not, and a film whose poster needs more than the usual number
        let (finding, usual) = (try await server(keys: "rendering: { quality: auto }"), try await server())
        let found = try await usual.send("/i/unsafe/w:185/q:auto/plain/sample://4@jpg")
        // When sizes, addresses without a quality and dialects are requested
        for path in ["/t/p/w185/sample/4.jpg", "/i/unsafe/w:185/plain/sample://4@jpg", "/i/unsafe/w:185/f:jpg/plain/sample://4"] {
            // Then they are the file that the option gives elsewhere
            let answer = try await finding.send(path)
            XCTAssertEqual(answer.body, found.body, path)
        }
        // And a number is that number
        let numbered = try await finding.send("/i/unsafe/w:185/q:80/plain/sample://4@jpg")
        let plain = try await usual.send("/t/p/w185/sample/4.jpg")
        XCTAssertEqual(numbered.body, plain.body)
        XCTAssertNotEqual(plain.body, found.body)
        // And an original is served as it is
        let (original, same) = (try await finding.send("/t/p/original/sample/4"), try await usual.send("/t/p/original/sample/4"))
        XCTAssertEqual(original.body, same.body)
    }

    func testThatTheSecondAnswerComesFromMemoryAndIsTheSame() async throws {
        // Given a cached variant
        let server = try await server()
        let first = try await server.send("/t/p/w92/sample/1.jpg")
        // When it is requested again in another dialect
        let second = try await server.send("/i/unsafe/w:92/f:jpg/plain/sample://1")
        // Then it comes from the cache
        XCTAssertEqual(first.field("Cache-Status"), "onesheet; fwd=miss; stored")
        XCTAssertTrue(second.field("Cache-Status")?.hasPrefix("onesheet; hit") ?? false)
        XCTAssertEqual(second.body, first.body)
        XCTAssertEqual(second.field("ETag"), first.field("ETag"))
    }

    func testThatAServerStartedAgainAnswersFromDisk() async throws {
        // Given a variant that an earlier server made
        let folder = folder()
        let earlier = try await server(cache: folder)
        let first = try await earlier.send("/t/p/w92/sample/1.jpg")
        await earlier.stop()
        // When a new server gets the request
        let later = try await server(cache: folder)
        let second = try await later.send("/t/p/w92/sample/1.jpg")
        // Then it serves the cached variant
        XCTAssertTrue(second.field("Cache-Status")?.hasSuffix("detail=disk") ?? false, second.field("Cache-Status") ?? "")
        XCTAssertEqual(second.body, first.body)
    }

    func testThatAKnownValidatorIsAnsweredWithoutABody() async throws {
        // Given the validator of a response
        let server = try await server()
        let tag = try await server.send("/t/p/w92/sample/1.jpg").field("ETag") ?? ""
        for (field, status) in [(tag, 304), ("W/\(tag)", 304), ("\"other\", \(tag)", 304), ("*", 304), ("\"other\"", 200)] {
            // When it is sent back
            let answer = try await server.send("/t/p/w92/sample/1.jpg", fields: [("If-None-Match", field)])
            // Then the response is 304
            XCTAssertEqual(answer.status, status, field)
            XCTAssertEqual(answer.body.readableBytes == 0, status == 304, field)
        }
    }

    func testThatHEADIsGETWithoutTheBody() async throws {
        // Given the response to GET
        let server = try await server()
        let full = try await server.send("/t/p/w92/sample/1.jpg")
        // When HEAD is sent
        let head = try await server.send("/t/p/w92/sample/1.jpg", method: "HEAD")
        // Then the fields are the same
        XCTAssertEqual(head.status, 200)
        XCTAssertEqual(head.field("Content-Length"), "\(full.body.readableBytes)")
        XCTAssertEqual(head.field("ETag"), full.field("ETag"))
        XCTAssertEqual(head.body.readableBytes, 0)
    }

    func testThatSourcesAndTitlesAreJSON() async throws {
        // Given a server
        let server = try await server()
        // When its lists are requested
        let sources = try await server.send("/sources").json()
        let titles = try await server.send("/sources/sample/titles").json()
        let title = try await server.send("/sources/sample/titles/1").json()
        let posters = try await server.send("/sources/sample/titles/1/posters").json()
        // Then they have all fields for clients
        XCTAssertEqual((sources["sources"] as? [[String: Any]])?.first?["name"] as? String, "sample")
        XCTAssertGreaterThan((titles["titles"] as? [Any])?.count ?? 0, 3)
        XCTAssertEqual((title["posters"] as? [String: String])?["w342"], "/t/p/w342/sample/1")
        XCTAssertEqual((posters["candidates"] as? [Any])?.count, 1)
    }

    func testThatTheLadderIsInTheShapeThatAppsRead() async throws {
        let server = try await server()
        let images = try await server.send("/3/configuration").json()["images"] as? [String: Any]
        XCTAssertEqual(images?["poster_sizes"] as? [String], ["w92", "w154", "w185", "w342", "w500", "w780", "original"])
        XCTAssertEqual(images?["base_url"] as? String, server.url + "/t/p/")
    }

    func testThatFiguresAndHealthAnswer() async throws {
        let server = try await server()
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        let metrics = try await server.send("/metrics").text
        XCTAssertTrue(metrics.contains("onesheet_cache_hits_total{tier=\"memory\",source=\"sample\"} 1"), metrics)
        for path in ["/health", "/ready"] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200)
        }
    }
}
