import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Originals in formats that are only read, or not at all, requested by clients.
final class OriginalFormatTests: ServerTestCase {
    func testThatAGIFIsServedInAFormatThatTheClientReads() async throws {
        // Given
        let drawing = DrawnGIF(width: 60, height: 90, transparent: 3)
        let origin = try await origin { _, _ in .answer(type: "image/gif", body: ByteBuffer(bytes: drawing.file)) }
        let server = try await server(
            sources: web(origin), keys: "signing: { unsafe: true }\ndialects: [thumbor]")
        let url = "\(origin.url)/a.gif"
        for (path, accept, type) in [
            ("/i/unsafe/w:30/plain/\(url)", "image/png", "image/png"), ("/i/unsafe/w:30/plain/\(url)", "*/*", "image/png"),
            ("/i/unsafe/w:30/plain/\(url)", "image/jpeg", "image/jpeg"),
            ("/i/unsafe/w:30/plain/\(url)@png", "*/*", "image/png"),
            // thumbor keeps the format of the original where it can.
            ("/thumbor/unsafe/30x0/\(url)", "*/*", "image/png"),
            ("/thumbor/unsafe/30x0/filters:background_color(fff)/\(url)", "*/*", "image/jpeg"),
        ] {
            // When
            let answer = try await server.send(path, fields: [("Accept", accept)])
            // Then
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text)")
            XCTAssertEqual(answer.field("Content-Type"), type, path)
            XCTAssertEqual(answer.field("Onesheet-Size"), "30x45", path)
        }
        assertProblem(try await server.send("/i/unsafe/w:30/plain/\(url)@gif"), 400, "“gif”")
    }

    func testThatAClientWithoutAWishGetsTheOriginalsFormatIfEveryClientReadsIt() async throws {
        // Given originals in three formats
        let maker = try await server(keys: "signing: { unsafe: true }")
        var files: [String: ByteBuffer] = [:]
        for kind in ["png", "jpeg", "webp"] { files[kind] = try await maker.send("/i/unsafe/w:60/plain/sample://1@\(kind)").body }
        let origin = try await origin { [files] path, _ in
            let kind = String(path.cut(at: ".")?.after ?? "")
            return .answer(type: "image/\(kind)", body: files[kind] ?? ByteBuffer())
        }
        let server = try await server(sources: web(origin), keys: "signing: { unsafe: true }")
        for (kind, type) in [("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/jpeg")] {
            for options in ["w:30/", ""] {
                // When
                let path = "/i/unsafe/\(options)plain/\(origin.url)/a.\(kind)"
                let answer = try await server.send(path, fields: [("Accept", "*/*")])
                // Then
                XCTAssertEqual(answer.field("Content-Type"), type, path)
                XCTAssertEqual(answer.field("Vary"), "Accept", path)
                // And the canonical address has the same bytes
                let link = answer.field("Link")?.cut(at: ">")?.before.dropFirst() ?? ""
                let canonical = try await server.send(String(link), fields: [("Accept", "*/*")])
                XCTAssertEqual(canonical.body, answer.body, "\(path) \(link)")
            }
        }
    }

    func testThatAnOriginalIsReturnedAsItIsIfThatIsAskedFor() async throws {
        // Given a JPEG
        let body = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: body) }
        let server = try await server(sources: web(origin))
        let url = "plain/\(origin.url)/a"
        for (path, isOriginal) in [
            ("/i/unsafe/raw:1/\(url)", true), ("/i/unsafe/w:10/raw:1/\(url)@png", true),
            ("/i/unsafe/w:10/skp:jpg/\(url)@jpg", true),
            ("/i/unsafe/w:10/skp:png/\(url)@jpg", false), ("/i/unsafe/w:10/skp:jpg/\(url)@png", false),
            ("/i/unsafe/w:10/raw:0/\(url)@jpg", false),
        ] {
            // When it is made, and when it comes from memory
            for _ in 0..<2 {
                let answer = try await server.send(path, fields: [("Accept", "image/png")])
                // Then it is the original if the options say so
                XCTAssertEqual(answer.status, 200, "\(path) \(answer.text)")
                XCTAssertEqual(answer.body == body, isOriginal, path)
            }
        }
    }

    func testThatAFormatWithoutACodecIsNamed() async throws {
        // Given
        let files = [
            "bmp": Array("BM".utf8) + [9, 9, 9, 9, 0, 0, 0, 0], "html": Array("<!doctype html><p>Gone".utf8),
            "txt": Array("Gone".utf8),
        ]
        let origin = try await origin { path, _ in
            .answer(type: "image/jpeg", body: ByteBuffer(bytes: files[String(path.suffix(4).drop { $0 == "." })] ?? []))
        }
        let server = try await server(sources: web(origin), keys: "signing: { unsafe: true }")
        for (kind, words) in [
            ("bmp", "BMP, which Onesheet does not read"), ("html", "a page of HTML"), ("txt", "not an image of a known format"),
        ] {
            assertProblem(try await server.send("/i/unsafe/w:30/plain/\(origin.url)/a.\(kind)@jpg"), 422, words, context: kind)
        }
    }
}
