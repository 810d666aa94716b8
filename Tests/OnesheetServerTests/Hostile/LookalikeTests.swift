import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Names that are equal for people and Swift, but not for origins: a request for one never gets the picture of the other.
final class LookalikeTests: ServerTestCase {
    func testThatEachNameHasItsOwnPictureAlsoAfterARestart() async throws {
        // Given a folder with two pictures whose names look the same, for each kind of such names
        let (pictures, cache) = (folder(), folder())
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        var originals: [[Data]] = []
        for (number, pair) in LookalikeTexts.pairs.enumerated() {
            let data = try [300, 200].map { Data(try Picture.jpeg(width: $0 + number, height: 300).readableBytesView) }
            for (text, data) in zip([pair.0, pair.1], data) { try data.write(to: URL(filePath: "\(pictures)/\(text).jpg")) }
            originals.append(data)
        }
        let sources = "art: { type: folder, path: \"\(pictures)\" }"
        for start in ["first", "second"] {
            // When all are requested twice, in their own size and in another; after the second start from the cache
            let server = try await server(sources: sources, cache: cache)
            for _ in 0..<2 {
                for (pair, data) in zip(LookalikeTexts.pairs, originals) {
                    for (text, data) in zip([pair.0, pair.1], data) {
                        let id = PercentEncoding.encode(text)
                        let original = try await server.send("/t/p/original/art/\(id)")
                        let small = try await server.send("/i/unsafe/w:100/plain/art%3A%2F%2F\(id)@jpg")
                        // Then each is correct
                        XCTAssertEqual(Data(original.body.readableBytesView), data, "\(start) start, \(id)")
                        let (header, whole) = (try Picture.header(small.body), try Picture.header(ByteBuffer(bytes: data)))
                        XCTAssertEqual(header.height, Int((Double(whole.height) * 100 / Double(whole.width)).rounded()), id)
                    }
                }
            }
            await server.stop()
        }
    }

    func testThatANameThatIsMissingHidesNoOther() async throws {
        for (one, other) in LookalikeTexts.pairs {
            // Given an origin that has one name and not the other, which was requested first
            let body = try Picture.jpeg()
            let path = "/\(PercentEncoding.encode(one)).jpg"
            let origin = try await origin { target, _ in
                target.isExactly(path) || target.isExactly("/\(one).jpg")
                    ? .answer(type: "image/jpeg", body: body) : .answer(status: 404)
            }
            let server = try await server(sources: web(origin))
            func answer(_ text: String) async throws -> Int {
                try await server.send("/i/unsafe/w:50/plain/\(PercentEncoding.encode("\(origin.url)/\(text).jpg"))@jpg").status
            }
            // When both are requested
            let statuses = [try await answer(other), try await answer(one), try await answer(other)]
            // Then the existing one is served
            XCTAssertEqual(statuses, [404, 200, 404], one)
        }
    }

    func testThatTheWallEscapesWhateverStandsBeforeIt() async throws {
        // Given titles with combining marks around characters of HTML
        let pictures = folder()
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        for name in ["\u{600}<b>one", "x<\u{301}img src=y>", "a\u{6DD}\"onload=z", "q'\u{20D2}&\u{338}amp;"] {
            try Data("x".utf8).write(to: URL(filePath: "\(pictures)/\(name).jpg"))
        }
        let server = try await server(sources: "art: { type: folder, path: \"\(pictures)\" }")
        // When the wall, an unknown title and the candidates of a title are shown
        let page = try await server.send("/?plain")
        let unknown = try await server.send("/?plain&source=\(PercentEncoding.encode("\u{600}<script>\u{301}"))")
        let posters = try await server.send("/?plain&source=art&posters=\(PercentEncoding.encode("\u{600}<b>one"))")
        let shell = try await server.send("/?query=\(PercentEncoding.encode("\u{600}<b>one\u{6DD}\"onload"))&<b>one")
        for answer in [page, unknown, posters, shell] {
            // Then none of it is markup, by bytes, as browsers parse it
            let bytes = Array(answer.body.readableBytesView)
            for word in ["<b>one", "<script>\u{301}", "<\u{301}img", "\u{6DD}\"onload"] {
                XCTAssertFalse(Self.holds(bytes, Array(word.utf8)), word)
            }
            // And the page may not send forms or change its base
            let policy = answer.field("Content-Security-Policy") ?? ""
            XCTAssertTrue(policy.contains("form-action 'self'") && policy.contains("base-uri 'none'"), policy)
        }
        XCTAssertTrue(Self.holds(Array(page.body.readableBytesView), Array("\u{600}&lt;b&gt;one".utf8)))
    }

    private static func holds(_ bytes: [UInt8], _ word: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: word) }
    }
}
