import Foundation
import NIOCore
import OnesheetCore
import OnesheetHTTP
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// HTTP semantics of images, over real sockets.
final class ImageSemanticsTests: ServerTestCase {
    private let path = "/t/p/w92/sample/1.jpg"

    func testThatAPartIsSentOfWhatTheClientHas() async throws {
        // Given a whole image
        let server = try await server()
        let whole = try await server.send(path)
        let size = whole.body.readableBytes
        XCTAssertEqual(whole.field("Accept-Ranges"), "bytes")
        // When a part is requested, of this one and of another
        let part = try await server.send(path, fields: [("Range", "bytes=10-19"), ("If-Range", whole.field("ETag") ?? "")])
        let other = try await server.send(path, fields: [("Range", "bytes=10-19"), ("If-Range", "\"other\"")])
        // Then only this one has a partial response
        XCTAssertEqual(part.status, 206)
        XCTAssertEqual(part.field("Content-Range"), "bytes 10-19/\(size)")
        XCTAssertEqual(part.field("Content-Length"), "10")
        XCTAssertEqual(part.field("ETag"), whole.field("ETag"))
        XCTAssertEqual(part.body, whole.body.slice(10..<20))
        XCTAssertEqual(other.status, 200)
        XCTAssertEqual(other.body, whole.body)
    }

    func testThatSeveralPartsComeInOneBody() async throws {
        let server = try await server()
        let whole = try await server.send(path)
        let answer = try await server.send(path, fields: [("Range", "bytes=0-1,-2")])
        XCTAssertEqual(answer.status, 206)
        let type = answer.field("Content-Type") ?? ""
        XCTAssertTrue(type.hasPrefix("multipart/byteranges; boundary="), type)
        XCTAssertNil(answer.field("Content-Range"))
        let bytes = Data(whole.body.readableBytesView)
        let body = Data(answer.body.readableBytesView)
        XCTAssertNotNil(body.range(of: Data("\r\n\r\n".utf8) + bytes.prefix(2) + Data("\r\n--".utf8)))
        XCTAssertNotNil(body.range(of: Data("\r\n\r\n".utf8) + bytes.suffix(2) + Data("\r\n--".utf8)))
    }

    func testThatARangeBehindTheEndIsAProblem() async throws {
        let server = try await server()
        let size = try await server.send(path).body.readableBytes
        let answer = try await server.send(path, fields: [("Range", "bytes=\(size)-")])
        assertProblem(answer, 416, "\(size) bytes")
        XCTAssertEqual(answer.field("Content-Range"), "bytes */\(size)")
    }

    func testThatHEADTakesNoRange() async throws {
        let server = try await server()
        let whole = try await server.send(path)
        let head = try await server.send(path, method: "HEAD", fields: [("Range", "bytes=0-1")])
        XCTAssertEqual(head.status, 200)
        XCTAssertEqual(head.field("Content-Length"), "\(whole.body.readableBytes)")
    }

    func testThatAConditionThatFailsIsAProblem() async throws {
        let (origin, path) = try await dated("Sun, 02 Jan 2000 00:00:00 GMT")
        let server = try await server(sources: web(origin))
        assertProblem(try await server.send(path, fields: [("If-Match", "\"other\"")]), 412, "does not meet")
        let long = "Sat, 01 Jan 2000 00:00:00 GMT"
        assertProblem(try await server.send(path, fields: [("If-Unmodified-Since", long)]), 412, "does not meet")
    }

    /// An origin whose picture has this `Last-Modified`, and the path of a variant.
    private func dated(_ date: String?) async throws -> (OriginServer, path: String) {
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in
            .answer(type: "image/jpeg", fields: date.map { ["Last-Modified": $0] } ?? [:], body: body)
        }
        return (origin, "/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
    }

    func testThatServersWithCachesOfTheirOwnAnswerConditionsAndRangesAlike() async throws {
        // Given two servers that make the same image at different times
        let date = "Sun, 02 Jan 2000 00:00:00 GMT"
        let (origin, path) = try await dated(date)
        var servers: [RunningServer] = []
        for seconds in [0, 100] {
            let clock = ManualClock()
            clock.advance(by: .seconds(seconds))
            servers.append(try await server(sources: web(origin), clock: clock.wallClock))
        }
        let tag = try await servers[0].send(path).field("ETag") ?? ""
        // When they get the same conditions and ranges
        for (fields, status) in [
            ([("If-Modified-Since", date)], 304), ([("If-Modified-Since", "Mon, 03 Jan 2000 00:00:00 GMT")], 200),
            ([("If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT")], 200), ([("If-Unmodified-Since", date)], 200),
            ([("Range", "bytes=0-9"), ("If-Range", date)], 200), ([("Range", "bytes=0-9"), ("If-Range", tag)], 206),
            ([("Range", "bytes=0-9")], 206), ([("If-None-Match", tag)], 304),
        ] {
            // Then they answer alike, when the image is made and from memory
            for server in servers {
                for _ in 0..<2 {
                    let answer = try await server.send(path, fields: fields)
                    XCTAssertEqual(answer.status, status, "\(fields)")
                    if status != 304 { XCTAssertEqual(answer.field("Last-Modified"), date, "\(fields)") }
                }
            }
        }
    }

    func testThatAnImageHasTheDateOfItsOriginOrNone() async throws {
        // Given origins with a date in another form, without one, with one in the future, and with nonsense
        for (sent, expected) in [
            ("Sunday, 02-Jan-00 00:00:00 GMT", "Sun, 02 Jan 2000 00:00:00 GMT"), (nil, nil), ("Fri, 31 Dec 9999 23:59:59 GMT", nil),
            ("yesterday", nil),
        ] {
            let (origin, path) = try await dated(sent)
            let server = try await server(sources: web(origin))
            for _ in 0..<2 {
                // When an image is requested
                let answer = try await server.send(path)
                // Then it has the date in the present form, if it is past
                XCTAssertEqual(answer.status, 200)
                XCTAssertEqual(answer.field("Last-Modified"), expected, sent ?? "none")
            }
        }
    }

    func testThat304SaysWhatCachesNeedAndNoMore() async throws {
        // Given the validators of a client
        let server = try await server()
        let tag = try await server.send("/t/p/w92/sample/1").field("ETag") ?? ""
        // When it sends a conditional request
        let answer = try await server.send("/t/p/w92/sample/1", fields: [("If-None-Match", tag), ("Range", "bytes=0-1")])
        // Then the response has exactly these fields
        XCTAssertEqual(answer.status, 304)
        let names = Set(answer.fields.map { $0.name.lowercased() })
        XCTAssertTrue(names.isSuperset(of: ["etag", "cache-control", "vary", "date"]), "\(names)")
        for name in ["age", "content-type", "content-length", "last-modified", "accept-ranges", "content-range", "link"] {
            XCTAssertFalse(names.contains(name), name)
        }
    }

    func testThatWhatIsLeftShrinks() async throws {
        // Given an original that its origin gives an hour
        let clock = ManualClock()
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", fields: ["Cache-Control": "max-age=3600"], body: body) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }", clock: clock.wallClock)
        let path = "/i/unsafe/w:60/plain/\(origin.url)/a@jpg"
        // When it is requested immediately and after ten minutes
        let first = try await server.send(path)
        clock.advance(by: .seconds(200))
        let second = try await server.send(path)
        // Then others keep it for what is left
        XCTAssertEqual([first.field("Age"), second.field("Age")], [nil, nil])
        XCTAssertTrue(
            second.field("Cache-Control")?.hasPrefix("public, max-age=3400, ") ?? false, second.field("Cache-Control") ?? "")
        XCTAssertEqual(second.field("Cache-Status"), "onesheet; hit; ttl=3400; detail=memory")
        XCTAssertEqual(first.field("Last-Modified"), second.field("Last-Modified"))
    }

    func testThatWhatTheOriginForbidsToKeepNobodyKeeps() async throws {
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", fields: ["Cache-Control": "no-store"], body: body) }
        let server = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        XCTAssertEqual(answer.field("Cache-Control"), "no-store")
        XCTAssertEqual(answer.field("Cache-Status"), "onesheet; fwd=miss")
    }

    func testThatWhatIsVersionedIsKeptForEver() async throws {
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback], versioned: true }")
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        XCTAssertEqual(answer.field("Cache-Control"), "public, max-age=31536000, immutable")
    }

    func testThatEveryWayToAVariantNamesTheSameCanonicalPath() async throws {
        let server = try await server()
        for (path, canonical) in [
            ("/t/p/w92/sample/1.jpg", "/t/p/w92/sample/1.jpg"), ("/t/p/w92/sample/1", "/t/p/w92/sample/1"),
            ("/i/unsafe/f:jpg/w:46/dpr:2/plain/sample://1", "/t/p/w92/sample/1.jpg"),
            ("/t/p/original/sample/1", "/t/p/original/sample/1"),
            ("/i/unsafe/q:75/rs:fill:30:45/plain/sample://1", "/i/unsafe/rt:fill/w:30/h:45/q:75/plain/sample%3A%2F%2F1"),
            (
                "/i/unsafe/q:75/rs:fill:30:45/plain/sample://1@jpg",
                "/i/unsafe/rt:fill/w:30/h:45/q:75/plain/sample%3A%2F%2F1@jpg"
            ),
            (
                "/i/unsafe/rt:fill/w:30/h:45/q:75/plain/sample%3A%2F%2F1@jpg",
                "/i/unsafe/rt:fill/w:30/h:45/q:75/plain/sample%3A%2F%2F1@jpg"
            ),
        ] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.field("Link"), "<\(canonical)>; rel=\"canonical\"", path)
        }
    }
}
