import OnesheetValues
import XCTest

@testable import OnesheetAddress

final class CanonicalPathTests: XCTestCase {
    private let title = TitleReference(source: "films", id: "a/b.c")

    func testThatEveryOptionIsSaidSoThatItIsReadTheSame() throws {
        let grammar = try ImageOptions(formats: [.jpeg, .png], watermark: "d1")
        for text in [
            "", "rs:fill:300:450:1", "rs:force:3:0/mw:5/mh:6", "g:sm/c:0.5:10:fp:0.1:0.9", "c:10:20", "c:10:20:nowe:3:4",
            "rot:270/fl:1:0", "fl:0:1",
            "ex:1:noea/w:9", "pd:1:2:3:4", "bg:ffffff", "bl:2.5/sh:0.3", "q:1/mb:1000", "q:auto/w:9", "q:auto/w:92",
            "sm:0/kcr:1/scp:0", "g:sowe/h:9",
            "dpr:2/w:9", "rs:auto:3:4", "rs:cover:3:4", "exar:1:no:0:5/w:1/h:2", "ar:0", "z:0.5:2", "t:1.5:ff0080:1:0", "t:0::0:1",
            "pix:9/gray:1", "bitonal:1/w:3", "square:1/w:3", "g:soea:-5:0.25/w:3", "g:pt:1.5:2/w:3", "c:1:2:no:3:4",
            "msr:1.5/msfs:10",
            "wm:0.5:soea:10:-0.25:0.2", "wm:1:re/w:3", "wm:1:ce:0:0:2.5", "mrd:300/w:3", "skp:png:jpg/w:3", "inset:1:2:3:4/w:3",
        ] {
            var transform = try grammar.parse(text).transform
            transform.format = .png
            let path = try XCTUnwrap(path(grammar)?.path(to: title, as: transform), text)
            guard path.hasPrefix("/i/") else { continue }
            let read = try ImagePath(path.dropFirst(3), grammar, signedBy: nil)
            XCTAssertEqual(read.options.transform, transform, path)
            XCTAssertEqual(read.source, .url(title.description))
        }
    }

    func testThatWhatPresetsSayIsNotSaidOtherwise() throws {
        var transform = Transform()
        (transform.width, transform.quality, transform.format) = (90, 80, .jpeg)
        XCTAssertNil(path(try ImageOptions(formats: [.jpeg], presets: ["default": "q:50"]))?.path(to: title, as: transform))
        XCTAssertNil(
            path(try ImageOptions(formats: [.jpeg], presets: ["a": "w:90"], presetsOnly: true))?.path(to: title, as: transform))
    }

    func testThatAServerThatFindsQualitiesReadsItsOwnPaths() throws {
        // Given
        let grammar = try ImageOptions(formats: [.jpeg], findsQuality: true)
        let paths = try XCTUnwrap(path(grammar))
        func written(_ text: String) throws -> String? {
            var transform = try grammar.parse(text).transform
            transform.format = .jpeg
            return paths.path(to: title, as: transform)
        }
        // Then a size is its own, and a number is named although it is the usual one
        XCTAssertEqual(try written("w:92"), "/t/p/w92/films/a%2Fb%2Ec.jpg")
        XCTAssertEqual(try written("w:92/q:80"), "/i/unsafe/w:92/q:80/plain/films%3A%2F%2Fa%2Fb.c@jpg")
        XCTAssertEqual(try written("w:9"), "/i/unsafe/w:9/q:auto/plain/films%3A%2F%2Fa%2Fb.c@jpg")
        // A server that does not names what it finds.
        var transform = try ImageOptions(formats: [.jpeg]).parse("w:92/q:auto").transform
        transform.format = .jpeg
        XCTAssertEqual(
            path(try ImageOptions(formats: [.jpeg]))?.path(to: title, as: transform),
            "/i/unsafe/w:92/q:auto/plain/films%3A%2F%2Fa%2Fb.c@jpg")
    }

    func testThatItIsTheAddressThatClientsMake() throws {
        // Given a name and an id with characters that paths escape
        let title = TitleReference(source: "a+b", id: "1.2")
        var transform = try SizeLadder.transform("w342")
        transform.format = .jpeg
        // Then both escape them alike
        let path = path(try ImageOptions(formats: [.jpeg]))?.path(to: title, as: transform)
        XCTAssertEqual(path, "/t/p/w342/a%2Bb/1%2E2.jpg")
        XCTAssertEqual(path, try PosterAddresses(at: "").poster(of: title, size: "w342", format: .jpeg))
    }

    func testThatItLivesNoLongerThanTheURLThatWasUsed() throws {
        var transform = Transform()
        (transform.width, transform.format) = (92, .jpeg)
        let paths = path(try ImageOptions(formats: [.jpeg]))
        XCTAssertEqual(paths?.path(to: title, as: transform, expires: nil), "/t/p/w92/films/a%2Fb%2Ec.jpg")
        XCTAssertEqual(paths?.path(to: title, as: transform, expires: 9), "/i/unsafe/w:92/exp:9/plain/films%3A%2F%2Fa%2Fb.c@jpg")
    }

    func testThatItIsSignedWhereThereAreKeys() throws {
        let signature = Signature(keys: [SigningKey(key: [1], salt: [2])])
        let grammar = try ImageOptions(formats: [.jpeg])
        var transform = Transform()
        (transform.width, transform.format) = (90, .jpeg)
        let path = try XCTUnwrap(CanonicalPath(options: grammar, signature: signature).path(to: title, as: transform))
        let read = try ImagePath(path.dropFirst(3), grammar, signedBy: nil)
        XCTAssertNoThrow(try signature.check(read.signature, of: read.signedPath))
    }

    private func path(_ options: ImageOptions) -> CanonicalPath? {
        CanonicalPath(options: options, signature: Signature(keys: [], acceptsUnsafe: true))
    }
}
