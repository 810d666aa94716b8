import OnesheetValues
import XCTest

@testable import OnesheetAddress

final class PathTests: XCTestCase {
    private func options() throws -> ImageOptions { try ImageOptions(formats: [.jpeg, .png]) }

    func testThatAPosterPathNamesSizeSourceAndTitle() throws {
        let path = try PosterPath("w342/sample/1.jpg", try options())
        XCTAssertEqual(path.title, TitleReference(source: "sample", id: "1"))
        XCTAssertEqual(path.transform.canonicalText, "size:fit-342x0/f:jpeg")
        XCTAssertFalse(path.negotiates)
    }

    func testThatWithoutAnExtensionTheClientDecides() throws {
        XCTAssertTrue(try PosterPath("w342/sample/1", try options()).negotiates)
    }

    func testThatTheOriginalIsNotNegotiated() throws {
        XCTAssertFalse(try PosterPath("original/sample/1", try options()).negotiates)
    }

    func testThatAnIdMayHoldAnythingWhenEncoded() throws {
        let path = try PosterPath("w92/sample/%EA%B4%91%ED%95%B4%2Fa%2Eb.png", try options())
        XCTAssertEqual(path.title.id, "광해/a.b")
    }

    func testThatADotMayBelongToTheId() throws {
        // Given ids whose dots a client has left, or made, unescaped
        let unknown = try PosterPath("w92/films/film.v2", try options())
        XCTAssertEqual(unknown.title.id, "film.v2")
        XCTAssertTrue(unknown.negotiates)
        XCTAssertNil(unknown.undividedID)
        XCTAssertEqual(
            unknown.unknownExtension?.description.hasPrefix("unknown extension “v2”"), true, "\(unknown.unknownExtension as Any)")
        let known = try PosterPath("w92/films/film.jpg", try options())
        XCTAssertEqual(known.title.id, "film")
        XCTAssertEqual(known.undividedID, "film.jpg")
        XCTAssertNil(known.unknownExtension)
        XCTAssertEqual(try PosterPath("w92/films/%EA%B4%91%ED%95%B4%2Fa%2Eb.JPG", try options()).undividedID, "광해/a.b.JPG")
    }

    func testSeveralSlashesInAPosterPathAreOne() throws {
        for text in ["/w342/sample/1.jpg", "w342//sample/1.jpg", "w342/sample///1.jpg", "//w342//sample//1.jpg"] {
            XCTAssertEqual(try PosterPath(text[...], try options()).title, TitleReference(source: "sample", id: "1"), text)
        }
        XCTAssertEqual(try PosterPath("w342/films//a//b.jpg", try options()).title.id, "a/b")
        // But for those of a URL
        XCTAssertEqual(try PosterPath("w342//web/https://a.example//b", try options()).title.id, "https://a.example//b")
    }

    func testMergedSlashesOfAURLAreRestored() {
        for (merged, whole) in [
            ("s/rs:fit:1:2/plain/http:/a.example/b//c@png", "s/rs:fit:1:2/plain/http://a.example/b//c@png"),
            ("unsafe/300x0/HTTPS:/a.example/b", "unsafe/300x0/HTTPS://a.example/b"),
            ("width=3/https:/a.example/", "width=3/https://a.example/"), ("s/plain/sample:/1", "s/plain/sample://1"),
            ("w342/web/https:/a.example/b", "w342/web/https://a.example/b"),
        ] {
            XCTAssertEqual(String(MergedSlashes.restored(in: merged[...])), whole)
            XCTAssertEqual(String(MergedSlashes.restored(in: whole[...])), whole)
        }
        for path in ["s/w:/plain/sample://1", "w342/sample/1.jpg", "s/plain/http%3A%2F%2Fa", "", "http:/", "a/b:/c"] {
            XCTAssertEqual(String(MergedSlashes.restored(in: path[...])), path)
        }
    }

    func testThatBadPosterPathsAreRefused() throws {
        let options = try options()
        for text in [
            "", "w342", "w342/sample", "w342/sample/", "w343/sample/1.jpg", "w342/sample/%zz",
            "w342/sample/%FF", "w342/sample/a%00b", "w342/sample/%+1",
        ] {
            XCTAssertThrowsError(try PosterPath(text[...], options), text) { XCTAssertTrue($0 is RequestError) }
        }
    }

    func testThatAPlainSourceURLIsRead() throws {
        let path = try ImagePath("unsafe/rs:fill:300:450/q:75/plain/sample://1@png", try options(), signedBy: nil)
        XCTAssertEqual(path.source, .url("sample://1"))
        XCTAssertEqual(path.signature, "unsafe")
        XCTAssertEqual(path.signedPath, "/rs:fill:300:450/q:75/plain/sample://1@png")
        XCTAssertEqual(path.options.transform.canonicalText, "size:fill-300x450/f:png/q:75")
    }

    func testThatAPlainSourceURLMayBeEncodedAndNeedNoOptions() throws {
        let path = try ImagePath("unsafe/plain/https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc%40d@jpg", try options(), signedBy: nil)
        XCTAssertEqual(path.source, .url("https://example.com/a?b=c@d"))
        XCTAssertEqual(path.options.transform.format, .jpeg)
    }

    func testThatABase64SourceURLIsReadInPieces() throws {
        let path = try ImagePath(
            "unsafe/rs:fit:10:10/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png", try options(), signedBy: nil)
        XCTAssertEqual(path.source, .url("http://example.com/images/curiosity.jpg"))
        XCTAssertEqual(path.options.transform.format, .png)
    }

    func testThatBadImagePathsAreRefused() throws {
        let options = try options()
        for text in [
            "", "unsafe", "unsafe/", "unsafe/rs:fit:1:1", "unsafe/w:1/!!!", "unsafe/w:x/plain/sample://1",
            "unsafe/plain/sample://1@gif", "unsafe/w:1/_w==", "unsafe/plain/%",
        ] {
            XCTAssertThrowsError(try ImagePath(text[...], options, signedBy: nil), text) { XCTAssertTrue($0 is RequestError) }
        }
    }
}
