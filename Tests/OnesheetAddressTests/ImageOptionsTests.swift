import OnesheetValues
import XCTest

@testable import OnesheetAddress

final class ImageOptionsTests: XCTestCase {
    func testThatNoOptionsAreTheIdentity() throws {
        XCTAssertEqual(try parse(""), Transform())
    }

    func testThatEachOptionMeansWhatItsNameSays() throws {
        // Given every option
        let table: [(String, (inout Transform) -> Void)] = [
            (
                "rs:fill:300:450",
                {
                    $0.resizing = .fill; $0.width = 300; $0.height = 450
                }
            ),
            (
                "rs:fit:300:0:1",
                {
                    $0.width = 300; $0.enlarges = true
                }
            ),
            (
                "rs:fill-down:30:40",
                {
                    $0.resizing = .fillDown; $0.width = 30; $0.height = 40
                }
            ),
            (
                "resize:force:30:40",
                {
                    $0.resizing = .force; $0.width = 30; $0.height = 40
                }
            ),
            (
                "s:30:40",
                {
                    $0.width = 30; $0.height = 40
                }
            ),
            ("rt:fill", { $0.resizing = .fill }),
            ("w:30", { $0.width = 30 }),
            ("h:40", { $0.height = 40 }),
            ("mw:30", { $0.minWidth = 30 }),
            ("mh:40", { $0.minHeight = 40 }),
            ("el:1", { $0.enlarges = true }),
            ("ex:1", { $0.extends = .center }),
            ("ex:1:no", { $0.extends = .compass(x: 0, y: -1) }),
            ("g:soea", { $0.gravity = .compass(x: 1, y: 1) }),
            ("g:sm", { $0.gravity = .smart }),
            ("g:fp:0.25:0.75", { $0.gravity = .focus(x: 0.25, y: 0.75) }),
            ("c:100:0.5", { $0.crop = .init(width: 100, height: 0.5) }),
            ("c:100:50:nowe:10:20", { $0.crop = .init(width: 100, height: 50, gravity: .corner(x: 10, y: 20)) }),
            ("g:nowe", { $0.gravity = .compass(x: -1, y: -1) }),
            ("c:100:50:no", { $0.crop = .init(width: 100, height: 50, gravity: .compass(x: 0, y: -1)) }),
            ("rot:270", { $0.rotation = 270 }),
            ("rot:-90", { $0.rotation = 270 }),
            ("rot:450", { $0.rotation = 90 }),
            ("fl:1:0", { $0.flipsHorizontally = true }),
            ("fl:0:1", { $0.flipsVertically = true }),
            ("pd:10", { $0.padding = .init(top: 10, right: 10, bottom: 10, left: 10) }),
            ("pd:1:2:3:4", { $0.padding = .init(top: 1, right: 2, bottom: 3, left: 4) }),
            ("bg:1:2:3", { $0.background = Color(red: 1, green: 2, blue: 3) }),
            ("bg:ff0080", { $0.background = Color(red: 255, green: 0, blue: 128) }),
            ("bg:fff", { $0.background = .white }),
            ("bl:1.5", { $0.blur = 1.5 }),
            ("sh:0.5", { $0.sharpen = 0.5 }),
            ("q:75", { $0.quality = 75 }),
            ("q:0", { _ in }),
            ("q:auto", { $0.findsQuality = true }),
            ("q:70/q:auto", { $0.findsQuality = true }),
            ("q:auto/q:70", { $0.quality = 70 }),
            ("q:auto/q:0", { _ in }),
            ("q:auto/fq:jpeg:50", { $0.findsQuality = true }),
            ("f:png", { $0.format = .png }),
            ("mb:1000", { $0.maxBytes = 1000 }),
            ("sm:0", { $0.stripsMetadata = false }),
            ("kcr:1", { $0.keepsCopyright = true }),
            ("scp:0", { $0.convertsToSRGB = false }),
            ("cb:abc", { _ in }),
            ("rt:auto", { $0.resizing = .auto }),
            ("rt:cover", { $0.resizing = .cover }),
            ("ar:0", { $0.appliesOrientation = false }),
            ("exar:1", { $0.extendsProportions = .center }),
            ("extend_aspect_ratio:t:so", { $0.extendsProportions = .compass(x: 0, y: 1) }),
            ("g:no:0:10", { $0.gravity = .offset(x: 0, y: -1, across: 0, down: 10) }),
            ("g:soea:-5:0.25", { $0.gravity = .offset(x: 1, y: 1, across: -5, down: 0.25) }),
            ("g:ce::7", { $0.gravity = .offset(x: 0, y: 0, across: 0, down: 7) }),
            ("g:no:0:0", { $0.gravity = .compass(x: 0, y: -1) }),
            ("g:nowe:0.1:0.2", { $0.gravity = .offset(x: -1, y: -1, across: 0.1, down: 0.2) }),
            ("g:pt:146:206.5", { $0.gravity = .point(x: 146, y: 206.5) }),
            ("ex:1:no:0:3", { $0.extends = .offset(x: 0, y: -1, across: 0, down: 3) }),
            (
                "z:0.5",
                {
                    $0.zoomX = 0.5; $0.zoomY = 0.5
                }
            ),
            (
                "zoom:2:3",
                {
                    $0.zoomX = 2; $0.zoomY = 3
                }
            ),
            ("t:10", { $0.trim = .init(threshold: 10) }),
            (
                "trim:5:ff0080:1:1",
                {
                    $0.trim = .init(
                        threshold: 5, color: Color(red: 255, green: 0, blue: 128), isEqualHorizontally: true,
                        isEqualVertically: true)
                }
            ),
            ("pix:12", { $0.pixelates = 12 }),
            ("gray:1", { $0.isGray = true }), ("bitonal:1", { $0.isBitonal = true }), ("square:1", { $0.crop = .square }),
            ("fq:jpeg:50:png:60", { $0.qualities = [.jpeg: 50, .png: 60] }),
            ("q:70/fq:jpeg:50", { $0.quality = 70 }),
            (
                "fq:jpg:50/f:jpg",
                {
                    $0.format = .jpeg; $0.quality = 50
                }
            ),
            ("fq:jpg:50/f:png", { $0.format = .png }),
            ("msr:1.5", { $0.maxSourcePixels = 1_500_000 }),
            ("msfs:1000", { $0.maxSourceBytes = 1000 }),
            ("maf:1/mafr:1", { _ in }),
            ("fn:poster/att:1", { _ in }),
        ]
        for (text, change) in table {
            // When it is parsed
            var expected = Transform()
            change(&expected)
            // Then it sets exactly this property
            XCTAssertEqual(try parse(text), expected, text)
        }
    }

    func testThatFlagsAreThoseOfGo() throws {
        for yes in ["1", "t", "T", "true", "TRUE", "True"] { XCTAssertTrue(try parse("el:\(yes)").enlarges, yes) }
        for no in ["0", "f", "F", "false", "FALSE", "False"] { XCTAssertFalse(try parse("el:1/el:\(no)").enlarges, no) }
        for other in ["yes", "tRUE", "2"] { XCTAssertThrowsError(try parse("el:\(other)"), other) }
    }

    func testThatDprMovesWhatIsInPixels() throws {
        // Given offsets in pixels and in shares
        for (text, gravity) in [
            ("g:no:4:10/dpr:2", Gravity.offset(x: 0, y: -1, across: 8, down: 20)),
            ("g:no:0.25:10/dpr:2", .offset(x: 0, y: -1, across: 0.25, down: 20)),
            ("g:nowe:4:10/dpr:2", .corner(x: 8, y: 20)), ("g:no/dpr:2", .compass(x: 0, y: -1)),
        ] {
            XCTAssertEqual(try parse(text).gravity, gravity, text)
        }
        // Then the crop before resizing keeps its position
        let cut = try parse("c:100:100/g:no:4:10/dpr:2")
        XCTAssertEqual(cut.crop?.gravity, .offset(x: 0, y: -1, across: 4, down: 10))
        XCTAssertNil(try parse("c:100:100/g:no/dpr:2").crop?.gravity)
    }

    func testThatAFileHasItsName() throws {
        let title = TitleReference(source: "web", id: "https://a.example/films/one.two.png?x=1")
        for (text, expected) in [
            ("att:1", "attachment; filename=\"one.two.jpg\""), ("fn:poster", "inline; filename=\"poster.jpg\""),
            ("fn:my%20poster/att:1", "attachment; filename=\"my poster.jpg\""),
            ("att:t/fn:cG9zdGVy:1", "attachment; filename=\"poster.jpg\""),
            ("fn:%EA%B4%91%22", "inline; filename=\"____.jpg\"; filename*=UTF-8''%EA%B4%91%22.jpg"),
        ] {
            let disposition = try ImageOptions(formats: [.jpeg]).parse(text).disposition
            XCTAssertEqual(disposition?.field(for: title, fileExtension: "jpg"), expected, text)
        }
        let untitled = TitleReference(source: "a", id: "x/")
        XCTAssertEqual(Disposition().field(for: untitled, fileExtension: "png"), "inline; filename=\"x.png\"")
        for text in ["fn:a%2Fb", "fn:a%0Ab", "fn:!!!:1", "fn:\(String(repeating: "a", count: 300))"] {
            XCTAssertThrowsError(try ImageOptions(formats: [.jpeg]).parse(text), text)
        }
    }

    func testThatAWatermarkIsThatOfTheServer() throws {
        let grammar = try ImageOptions(formats: [.jpeg], presets: ["mark": "wm:0.5:re:10:20"], watermark: "d1")
        for (text, expected) in [
            ("wm:1", Transform.Watermark(opacity: 1, digest: "d1")),
            (
                "watermark:0.5:soea:10:-0.25:0.2",
                .init(opacity: 0.5, position: .compass(x: 1, y: 1), offsetX: 10, offsetY: -0.25, scale: 0.2, digest: "d1")
            ),
            ("pr:mark", .init(opacity: 0.5, position: .repeated, offsetX: 10, offsetY: 20, digest: "d1")),
            ("wm:1:ce:10:0.5/dpr:2", .init(opacity: 1, offsetX: 20, offsetY: 0.5, digest: "d1")),
            ("wm:1:ce:0:0:2.5", .init(opacity: 1, scale: 2.5, digest: "d1")),
            ("wm:1/wm:0", nil),
        ] as [(String, Transform.Watermark?)] {
            XCTAssertEqual(try grammar.parse(text).transform.watermark, expected, text)
        }
        for text in [
            "wm", "wm:", "wm:2", "wm:-1", "wm:1:sm", "wm:1:fp:0.5:0.5", "wm:1:ce:x", "wm:1:ce:0:0:101", "wm:1:ce:0:0:-1",
            "wm:1:ce:0:0:1:1",
        ] {
            XCTAssertThrowsError(try grammar.parse(text), text)
        }
        // Each part, and another file, is another variant.
        let texts = try ["", "wm:1", "wm:0.5", "wm:1:no", "wm:1:re", "wm:1:ce:1", "wm:1:ce:0:1", "wm:1:ce:0:0:1"].map {
            try grammar.parse($0).transform.canonicalText
        }
        let other = try ImageOptions(formats: [.jpeg], watermark: "d2")
        XCTAssertEqual(Set(texts + [try other.parse("wm:1").transform.canonicalText]).count, texts.count + 1)
    }

    func testThatUnsupportedOptionsAreRefusedByName() {
        for (text, words) in [
            ("br:10", "option “br” belongs to imgproxy's paid version"), ("bga:0.5", "“bga”"), ("co:1.2", "“co”"), ("sa:0", "“sa”"),
            ("watermark_text:abc", "paid"), ("aq:dssim", "paid"), ("wm:0.5:ce", "configuration: rendering.watermark"),
        ] {
            XCTAssertThrowsError(try parse(text), text) { XCTAssertTrue("\($0)".contains(words), "\($0)") }
        }
    }

    func testThatAnAddressHasNoMoreOptionsThanAnyoneWrites() throws {
        // Given a preset of two options
        let grammar = try ImageOptions(formats: [.jpeg], presets: ["card": "w:30/h:45"])
        // Then an address may repeat it, but not for ever: in one option, or in many
        let names = { (count: Int) in "pr" + String(repeating: ":card", count: count) }
        XCTAssertEqual(try grammar.parse(names(127)), try grammar.parse("w:30/h:45"))
        for text in [names(128), String(repeating: "pr:card/", count: 86), String(repeating: "w:1/", count: 257)] {
            XCTAssertThrowsError(try grammar.parse(text)) { XCTAssertTrue("\($0)".contains("at most 256 options"), "\($0)") }
        }
    }

    func testThatOriginalsCanBeAskedForAsTheyAre() throws {
        // Given
        let grammar = try ImageOptions(formats: [.jpeg, .png])

        // When
        let raw = try ImagePath("unsafe/w:60/raw:1/q:5/plain/films%3A%2F%2F1@png", grammar, signedBy: nil)
        let not = try ImagePath("unsafe/w:60/raw:0/plain/films%3A%2F%2F1", grammar, signedBy: nil)
        let skipping = try grammar.parse("w:60/skp:png:jpg:jpeg").transform

        // Then the first is the original in its own format, and the last keeps its options for other formats
        XCTAssertEqual(raw.options.transform, Transform())
        XCTAssertFalse(raw.negotiates)
        XCTAssertTrue(not.negotiates)
        XCTAssertEqual(skipping.skips, [.jpeg, .png])
        XCTAssertEqual(skipping.width, 60)
        XCTAssertEqual(try grammar.parse("skp:jpg/skp:").transform, Transform())
        XCTAssertThrowsError(try grammar.parse("skp:gif")) { XCTAssertTrue("\($0)".contains("gif"), "\($0)") }
    }

    func testThatTheLongestSideOfTheResultIsAPartOfTheKey() throws {
        XCTAssertEqual(try parse("mrd:100").canonicalText, "mrd:100")
        XCTAssertEqual(try parse("max_result_dimension:100/dpr:2").maxResultSide, 100)
        XCTAssertEqual(try parse("mrd:0"), Transform())
        XCTAssertEqual(try parse("eth:1/enforce_thumbnail:0"), Transform())
        XCTAssertThrowsError(try parse("mrd:-1"))
    }

    func testThatSidesCanBeCutOff() throws {
        let insets = try parse("inset:1:2:3:4").crop?.insets
        XCTAssertEqual(insets, Transform.Padding(top: 1, right: 2, bottom: 3, left: 4))
        XCTAssertEqual(try parse("inset:5").crop?.insets, Transform.Padding(top: 5, right: 5, bottom: 5, left: 5))
        XCTAssertEqual(try parse("inset:5/inset:0"), Transform())
        XCTAssertNotEqual(try parse("inset:1:2:3:4").canonicalText, try parse("inset:1:2:4:3").canonicalText)
    }

    func testServerWithoutPresetsSaysSo() throws {
        XCTAssertThrowsError(try parse("pr:x")) { XCTAssertEqual("\($0)", "unknown preset “x”; there are none") }
        let only = try ImageOptions(formats: [.jpeg], presetsOnly: true)
        XCTAssertThrowsError(try only.parse("w:1")) { XCTAssertTrue("\($0)".hasSuffix("; it has no presets"), "\($0)") }
        XCTAssertThrowsError(try only.transform(["w:1"])) { XCTAssertTrue("\($0)".hasSuffix("presets: it has none"), "\($0)") }
    }

    func testThatTheSameTransformInOtherWordsHasTheSameKey() throws {
        // Given spellings with the same meaning
        let ways = [
            "rs:fill:300:450/q:80", "w:300/h:450/rt:fill", "h:450/rs:fill:300", "rs:fill:150:225/dpr:2",
            "cb:1/pr:card/exp:9999999999",
        ]
        // When they are read
        let texts = try ways.map { try parse($0, presets: ["card": "rs:fill:300:450"]).canonicalText }
        // Then they are equal
        XCTAssertEqual(Set(texts), ["size:fill-300x450"])
    }

    func testThatASmallNumberIsNotTakenForNoLimit() throws {
        let tiny = try parse("w:1/mh:3/dpr:0.1")
        XCTAssertEqual([tiny.width, tiny.minHeight, tiny.height], [1, 1, 0])
        XCTAssertEqual(try parse("msr:0.0000001").maxSourcePixels, 1)
    }

    func testThatAnAddressWithoutAQualityHasTheServersDefault() throws {
        // Given a server that finds qualities
        let grammar = try ImageOptions(formats: [.jpeg, .png], presets: ["small": "w:9"], findsQuality: true)
        // When an address says nothing of it, then the server finds it, in sizes and dialects too
        for text in ["", "w:9", "pr:small", "q:0", "fq:png:50", "q:70/q:0"] {
            XCTAssertTrue(try grammar.parse(text).transform.findsQuality, text)
        }
        XCTAssertTrue(try grammar.transform(["w:9"]).findsQuality)
        XCTAssertTrue(try PosterPath("w92/films/a.jpg", grammar).transform.findsQuality)
        XCTAssertEqual(try grammar.variants(sizes: ["w92"], formats: ["jpg"]).map(\.transform.findsQuality), [true])
        // When it names one, then that is the one
        for (text, quality) in [("q:80", 80), ("q:75", 75), ("fq:png:60/f:png", 60)] {
            let transform = try grammar.parse(text).transform
            XCTAssertEqual(transform.quality, quality, text)
            XCTAssertFalse(transform.findsQuality, text)
        }
    }

    func testImageWithSeveralNamesIsMadeOnce() throws {
        let names = ["w300.logo.ko", "w300.logo.KO", "w300.logo.kor", "w300.logo.ko.ko", "w92", "w92.poster"]
        let grammar = try ImageOptions(formats: [.jpeg, .png])
        XCTAssertEqual(try grammar.variants(sizes: names, formats: ["png"]).map(\.selector.description), ["logo.ko", "poster"])
    }

    func testThatADifferentTransformHasAnotherKey() throws {
        // Given transforms that differ in one property each
        let ways = [
            "", "w:1", "h:1", "w:1/rt:fill", "mw:1", "mh:1", "el:1", "ex:1", "g:no", "c:1:0", "c:1:0:no", "rot:90", "fl:1",
            "fl:0:1", "pd:1",
            "ar:0", "exar:1", "g:no:0:1", "g:pt:1:1", "z:2/w:1", "t:1", "t:1:fff", "t:1::1", "t:1::0:1", "pix:2", "gray:1",
            "bitonal:1", "square:1",
            "fq:png:9",
            "msr:1", "msfs:1",
            "bg:000", "bl:1", "sh:1", "q:1", "q:auto", "f:png", "mb:1", "sm:0", "kcr:1", "scp:0",
        ]
        // When they are read
        let texts = try ways.map { try parse($0).canonicalText }
        // Then no two have the same key
        XCTAssertEqual(Set(texts).count, ways.count)
    }

    func testThatBadOptionsAreRefusedByName() {
        // Given invalid options and the expected words of the error
        let table = [
            ("rz:1", "rz"), ("resize_:1", "resize_"), ("w:-1", "-1"), ("w:abc", "abc"), ("w:99999999", "99999999"),
            ("rs:stretch", "stretch"),
            ("rot:45", "45"), ("g:up", "up"), ("g:fp:2:0", "2"), ("g:fp", "fp"), ("q:101", "101"), ("q:automatic", "auto"),
            ("f:bmp", "bmp"),
            ("pr:nope", "nope"),
            ("el:maybe", "maybe"), ("bg:12345", "12345"), ("bg:256:0:0", "256"), ("bl:x", "x"), ("dpr:100", "100"), ("w:1:2", "2"),
            ("w:nan", "nan"), ("c:nan:1", "nan"), ("exp:soon", "soon"), (":1", "unknown option"),
            ("g:no:x", "x"), ("g:pt:1", "pt"), ("t:", "threshold"), ("t:300", "300"), ("t:1:12345", "12345"), ("pix:-1", "-1"),
            ("z:0", "0"), ("fq:jpeg", "after each format"), ("fq:heic:1", "heic"), ("fq:jpeg:0", "0"), ("msr:-1", "-1"),
        ]
        for (text, name) in table {
            // When they are read
            XCTAssertThrowsError(try parse(text), text) { error in
                // Then the error names them
                XCTAssertTrue("\(error)".contains(name), "\(error)")
            }
        }
    }

    func testThatAnUnknownOptionComesWithTheNearestOne() {
        XCTAssertThrowsError(try parse("rss:fit:1:1")) {
            XCTAssertEqual("\($0)", "unknown option “rss”; did you mean “rs”?")
        }
    }

    func testThatAPresetThatCannotBeReadIsRefusedAtOnce() {
        XCTAssertThrowsError(try ImageOptions(formats: [.jpeg], presets: ["card": "w:abc"]))
        XCTAssertThrowsError(try ImageOptions(formats: [.jpeg], presets: ["a": "pr:b", "b": "pr:a"]))
    }

    func testThatTheDefaultPresetComesFirst() throws {
        XCTAssertEqual(try parse("w:10", presets: ["default": "w:5/h:5"]).canonicalText, "size:fit-10x5")
    }

    func testThatTheExpiryIsKeptOutOfTheTransform() throws {
        let parsed = try ImageOptions(formats: [.jpeg]).parse("exp:1700000000/w:1")
        XCTAssertEqual(parsed.expires, 1_700_000_000)
        XCTAssertEqual(parsed.transform.canonicalText, "size:fit-1x0")
    }

    private func parse(_ text: String, presets: [String: String] = [:]) throws -> Transform {
        try ImageOptions(formats: [.jpeg, .png], presets: presets).parse(text).transform
    }
}
