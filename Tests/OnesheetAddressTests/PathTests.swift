import OnesheetValues
import XCTest

@testable import OnesheetAddress

final class PathTests: XCTestCase {
    private func options() throws -> ImageOptions { try ImageOptions(formats: [.jpeg, .png]) }

    func testThatAPosterPathNamesSizeSourceAndTitle() throws {
        let path = try PosterPath("w342/sample/1.jpg", try options())
        XCTAssertEqual(path.image.title, TitleReference(source: "sample", id: "1"))
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
        XCTAssertEqual(path.image.title.id, "광해/a.b")
    }

    func testThatADotMayBelongToTheId() throws {
        // Given ids whose dots a client has left, or made, unescaped
        let unknown = try PosterPath("w92/films/film.v2", try options())
        XCTAssertEqual(unknown.image.title.id, "film.v2")
        XCTAssertTrue(unknown.negotiates)
        XCTAssertNil(unknown.other?.id)
        XCTAssertEqual(
            unknown.unknownExtension?.description.hasPrefix("unknown extension “v2”"), true, "\(unknown.unknownExtension as Any)")
        let known = try PosterPath("w92/films/film.jpg", try options())
        XCTAssertEqual(known.image.title.id, "film")
        XCTAssertEqual(known.other?.id, "film.jpg")
        XCTAssertNil(known.unknownExtension)
        XCTAssertEqual(try PosterPath("w92/films/%EA%B4%91%ED%95%B4%2Fa%2Eb.JPG", try options()).other?.id, "광해/a.b.JPG")
    }

    func testExtensionOfAURLIsTheFilesUnlessThereIsAnother() throws {
        let options = try options()
        for (path, id, format, otherID, otherFormat) in [
            // Given URLs with one extension, plain and encoded
            ("https://a.example/b.jpg", "https://a.example/b.jpg", nil, "https://a.example/b", .jpeg),
            ("https%3A%2F%2Fa.example%2Fb.png", "https://a.example/b.png", nil, "https://a.example/b", .png),
            // With a second one, and as this server writes them
            ("https%3A%2F%2Fa.example%2Fb.jpg.png", "https://a.example/b.jpg", .png, "https://a.example/b.jpg.png", nil),
            ("https%3A%2F%2Fa%2Eexample%2Fb.jpg", "https://a.example/b", .jpeg, "https://a.example/b.jpg", nil),
            ("https%3A%2F%2Fa%2Eexample%2Fb%2Ejpg.png", "https://a.example/b.jpg", .png, "https://a.example/b.jpg.png", nil),
            // And an id that is none
            ("a.b/c.jpg", "a.b/c", .jpeg, "a.b/c.jpg", nil),
        ] as [(String, String, ImageFormat?, String, ImageFormat?)] {
            // When
            let read = try PosterPath("w92/web/\(path)", options)
            // Then
            XCTAssertEqual(read.image.title.id, id, path)
            XCTAssertEqual(read.transform.format, format, path)
            XCTAssertEqual(read.negotiates, format == nil, path)
            XCTAssertEqual(read.other?.id, otherID, path)
            XCTAssertEqual(read.other?.format, otherFormat, path)
        }
    }

    func testSizeNamesTheImage() throws {
        // Given paths and the image that each means
        let cases = [
            ("w342/sample/1.jpg", "sample://1"), ("w342.poster/sample/1.jpg", "sample://1"),
            ("w780.backdrop/sample/1", "backdrop@sample://1"),
            ("w300.logo.KO.original.none/sample/a/b.png", "logo.ko.original.none@sample://a/b"),
            ("w300%2Elogo%2Cko/sample/1", nil), ("w300.logo.ko%2Cnone/sample/1", "logo.ko.none@sample://1"),
            ("h632.profile/sample/1", "profile@sample://1"),
        ]
        for (text, expected) in cases {
            // When it is read
            let path = try? PosterPath(text[...], try options())
            // Then it is that image, whose own path means the same
            XCTAssertEqual(path?.image.description, expected, text)
            guard let path else { continue }
            let own = PosterPath.text(of: path.image.title, path.image.selector, size: "w92")
            XCTAssertEqual(try PosterPath(own.dropFirst("/t/p/".count), try options()).image, path.image)
        }
        XCTAssertEqual(PosterPath.text(of: TitleReference(source: "sample", id: "1"), size: "w92"), "/t/p/w92/sample/1")
    }

    func testSeveralSlashesInAPosterPathAreOne() throws {
        for text in ["/w342/sample/1.jpg", "w342//sample/1.jpg", "w342/sample///1.jpg", "//w342//sample//1.jpg"] {
            XCTAssertEqual(try PosterPath(text[...], try options()).image.title, TitleReference(source: "sample", id: "1"), text)
        }
        XCTAssertEqual(try PosterPath("w342/films//a//b.jpg", try options()).image.title.id, "a/b")
        // But for those of a URL
        XCTAssertEqual(try PosterPath("w342//web/https://a.example//b", try options()).image.title.id, "https://a.example//b")
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

    func testSourceURLHasNoControlCharactersHoweverItIsWritten() throws {
        // Given a line break as `echo` writes it before base64, and a zero byte, in plain text and in base64url
        let options = try options()
        let paths = [
            "unsafe/plain/https:%2F%2Fa.example%2Fa.jpg%0A", "unsafe/aHR0cHM6Ly9hLmV4YW1wbGUvYS5qcGcK.png",
            "unsafe/plain/sample:%2F%2Fa%00b", "unsafe/c2FtcGxlOi8vYQBi",
        ]
        for path in paths { XCTAssertThrowsError(try ImagePath(path[...], options, signedBy: nil), path) }
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
