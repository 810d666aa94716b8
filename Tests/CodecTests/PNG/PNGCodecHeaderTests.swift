import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

/// The contents of the chunks around the pixels.
final class PNGCodecHeaderTests: XCTestCase {
    private func header(_ change: (inout DrawnPNG) -> Void) throws -> ImageHeader {
        var drawn = DrawnPNG(kind: .rgb, depth: 8)
        change(&drawn)
        return try PNGCodec().header(of: drawn.file.span)
    }

    func testThatTheHeaderTellsKindAndSize() throws {
        for drawn in DrawnPNG.everyKind {
            // When
            let header = try PNGCodec().header(of: drawn.file.span)

            // Then
            XCTAssertEqual(header.format, .png)
            XCTAssertEqual([header.width, header.height], [13, 11], drawn.name)
            XCTAssertEqual(header.model, drawn.kind.channels < 3 && drawn.kind != .palette ? .gray : .rgb, drawn.name)
            XCTAssertEqual(header.hasAlpha, drawn.transparency != nil || [.grayAlpha, .rgba].contains(drawn.kind), drawn.name)
            XCTAssertFalse(header.isProgressive, drawn.name)
        }
    }

    func testThatInterlacedFilesAreProgressive() throws {
        XCTAssertTrue(try header { $0.isInterlaced = true }.isProgressive)
    }

    func testThatAFileWithoutAWordOfColoursIsSRGB() throws {
        XCTAssertEqual(try header { _ in }.colors, .sRGB)
    }

    func testThatTheSRGBChunkIsSRGB() throws {
        XCTAssertEqual(try header { $0.early = [("sRGB", [0])] }.colors, .sRGB)
    }

    func testThatSRGBCountsBeforeGammaAndPrimaries() throws {
        // Given
        let chunks = [Self.gamma(45455), Self.sRGBPrimaries, (name: "sRGB", bytes: [UInt8(0)])]

        // When
        let colors = try header { $0.early = chunks }.colors

        // Then
        XCTAssertEqual(colors, .sRGB)
    }

    func testThatTheGammaOfSRGBIsSRGB() throws {
        XCTAssertEqual(try header { $0.early = [Self.gamma(45455)] }.colors, .sRGB)
        XCTAssertEqual(try header { $0.early = [Self.gamma(45455), Self.sRGBPrimaries] }.colors, .sRGB)
    }

    func testThatAnotherGammaIsToldForDecoding() throws {
        XCTAssertEqual(try header { $0.early = [Self.gamma(100_000)] }.colors, .gamma(1, chromaticities: nil))
        XCTAssertEqual(try header { $0.early = [Self.gamma(50_000)] }.colors, .gamma(2, chromaticities: nil))
    }

    func testThatOtherPrimariesAreTold() throws {
        // Given the values of Display P3
        let points = [31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000]
        let chunk = (name: "cHRM", bytes: points.flatMap(DrawnPNG.number))

        // When
        let colors = try header { $0.early = [Self.gamma(45455), chunk] }.colors

        // Then
        guard case .gamma(let gamma, let primaries?) = colors else { return XCTFail("\(colors)") }
        XCTAssertEqual(gamma, 2.2, accuracy: 0.001)
        XCTAssertEqual(primaries.red, [0.68, 0.32])
        XCTAssertEqual(primaries.white, [0.3127, 0.3290])
    }

    func testThatAProfileIsToldAsItIs() throws {
        XCTAssertEqual(try header { $0.early = [Self.profileChunk(Self.profile)] }.colors, .icc(Self.profile))
    }

    func testAProfileCountsBeforeSRGB() throws {
        let (profile, srgb) = (Self.profileChunk(Self.profile), (name: "sRGB", bytes: [UInt8(0)]))
        for chunks in [[profile, srgb], [srgb, profile], [Self.gamma(45455), srgb, profile]] {
            XCTAssertEqual(try colors(chunks), .icc(Self.profile))
        }
    }

    func testSRGBWithAnUnknownIntentIsNone() throws {
        for wrong in [[4], [], [0, 0]] as [[UInt8]] {
            XCTAssertEqual(try colors([("sRGB", wrong), Self.gamma(50_000)]), .gamma(2, chromaticities: nil))
        }
    }

    func testPrimariesWithoutAGammaSayNothing() throws {
        let points = [31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000]
        XCTAssertEqual(try colors([("cHRM", points.flatMap(DrawnPNG.number))]), .sRGB)
    }

    func testThatABrokenProfileIsAsGoodAsNone() throws {
        // Given
        var broken = Self.profile
        broken.replaceSubrange(36..<40, with: Array("nope".utf8))

        // Then
        XCTAssertEqual(try header { $0.early = [Self.profileChunk(broken)] }.colors, .sRGB)
    }

    func testFirstOfTwoProfilesCounts() throws {
        // Given two profiles that differ in a byte of no meaning
        var other = Self.profile
        other[other.count - 1] ^= 1
        // Then the first is taken
        for (first, second) in [(Self.profile, other), (other, Self.profile)] {
            XCTAssertEqual(try colors([Self.profileChunk(first), Self.profileChunk(second)]), .icc(first))
        }
    }

    func testProfileBehindAPaletteCounts() throws {
        let (palette, profile) = ((name: "PLTE", bytes: [1, 2, 3] as [UInt8]), Self.profileChunk(Self.profile))
        // Given a suggested palette and the palette of the pixels, each before the profile
        var indexed = DrawnPNG(kind: .palette, depth: 8, palette: [[9, 8, 7], [1, 2, 3]])
        indexed.early = [("PLTE", [9, 8, 7, 1, 2, 3]), profile]
        let rows = indexed.pictureChunks(DrawnPNG.zlib(indexed.scanlines))
        let file = DrawnPNG.file(header: indexed.header, chunks: indexed.early + rows)

        // Then it counts, as the first one
        XCTAssertEqual(try colors([palette, profile]), .icc(Self.profile))
        XCTAssertEqual(try PNGCodec().header(of: file.span).colors, .icc(Self.profile))
        XCTAssertEqual(try PNGCodec().decoded(file).rgba, indexed.rgba)
        var other = Self.profile
        other[other.count - 1] ^= 1
        XCTAssertEqual(try colors([palette, profile, palette, Self.profileChunk(other)]), .icc(Self.profile))
        XCTAssertEqual(try colors([Self.profileChunk(other), palette, profile]), .icc(other))
    }

    func testSecondSuggestedPaletteIsPassedOver() throws {
        let palette = (name: "PLTE", bytes: [1, 2, 3] as [UInt8])
        XCTAssertNoThrow(try header { $0.early = [palette, palette] })
    }

    func testChunkWithADigitInItsNameIsPassedOver() throws {
        // Given chunks that are not needed, before and behind the picture
        let chunk = (name: "ab1d", bytes: [1, 2, 3] as [UInt8])
        XCTAssertEqual(try header { ($0.early, $0.late) = ([chunk, ("eXIf", Self.exif(6))], [chunk]) }.orientation, .right)
        // Then one that is needed is damage
        XCTAssertThrowsError(try header { $0.early = [("AB1D", [1, 2, 3])] })
    }

    func testThatAProfileForOtherPixelsIsAsGoodAsNone() throws {
        // Given
        var gray = Self.profile
        gray.replaceSubrange(16..<20, with: Array("GRAY".utf8))

        // Then
        XCTAssertEqual(try header { $0.early = [Self.profileChunk(gray)] }.colors, .sRGB)
    }

    func testThatOrientationIsReadBeforeThePicture() throws {
        XCTAssertEqual(try header { $0.early = [("eXIf", Self.exif(6))] }.orientation, .right)
    }

    func testThatOrientationIsReadBehindThePicture() throws {
        XCTAssertEqual(try header { $0.late = [("eXIf", Self.exif(3))] }.orientation, .down)
    }

    func testThatWhatStandsBehindTheEndSaysNothing() throws {
        // Given
        let file = DrawnPNG(kind: .rgb, depth: 8).file + DrawnPNG.chunk("eXIf", Self.exif(3))

        // Then
        XCTAssertEqual(try PNGCodec().header(of: file.span).orientation, .up)
    }

    func testThatMeaninglessEXIFIsPassedOver() throws {
        XCTAssertEqual(try header { $0.late = [("eXIf", [1, 2, 3])] }.orientation, .up)
    }

    private func colors(_ chunks: [(name: String, bytes: [UInt8])]) throws -> ColorDescription {
        try header { $0.early = chunks }.colors
    }

    func testCodePointsCountBeforeAllOtherColours() throws {
        // Given Display P3, and linear BT.2020, beside what says otherwise
        let others = [(name: "sRGB", bytes: [UInt8(0)]), Self.profileChunk(Self.profile), Self.gamma(50_000), Self.sRGBPrimaries]
        for values in [[12, 13, 0, 1], [9, 8, 0, 1]] as [[UInt8]] {
            for other in others {
                // When
                let told = try colors([other, ("cICP", values)])

                // Then
                switch told {
                case .gamma(1, let primaries?): XCTAssertEqual(primaries.red, [0.708, 0.292])
                case .primaries(let primaries): XCTAssertEqual(primaries.red, [0.680, 0.320])
                default: XCTFail("\(told)")
                }
            }
        }
        XCTAssertEqual(try colors([Self.gamma(50_000), ("cICP", [1, 13, 0, 1])]), .sRGB)
    }

    func testHighDynamicRangeIsRefusedByName() {
        for (transfer, name) in [(16, "PQ"), (18, "HLG")] as [(UInt8, String)] {
            XCTAssertThrowsError(try colors([("cICP", [9, transfer, 0, 1])])) {
                XCTAssertEqual($0 as? CodecError, .unsupported("the transfer function \(name) (high dynamic range)"))
            }
        }
    }

    func testUnknownCodePointsAreAsGoodAsNone() throws {
        // Given unknown values, luma and chroma, the limited range, and too few bytes
        for values in [[200, 13, 0, 1], [9, 200, 0, 1], [2, 2, 0, 1], [9, 16, 1, 1], [9, 16, 0, 0], [9, 16, 0]] as [[UInt8]] {
            XCTAssertEqual(try colors([("cICP", values), Self.gamma(50_000)]), .gamma(2, chromaticities: nil), "\(values)")
        }
        // and chunks behind the rows and behind a palette
        let late = (name: "cICP", bytes: [9, 16, 0, 1] as [UInt8])
        XCTAssertEqual(try header { $0.late = [late] }.colors, .sRGB)
        XCTAssertEqual(try colors([("PLTE", [1, 2, 3]), late]), .sRGB)
    }

    /// EXIF as ImageMagick writes it into a text chunk.
    private func rawProfile(_ exif: [UInt8], kind: String = "exif", isDeflated: Bool) -> (name: String, bytes: [UInt8]) {
        let bytes = Array("Exif\0\0".utf8) + exif
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let lines = stride(from: 0, to: digits.count, by: 36).map { digits[$0..<min($0 + 36, digits.count)].joined() }
        let text = Array("\n\(kind)\n      \(bytes.count)\n\(lines.joined(separator: "\n"))\n".utf8)
        let keyword = Array("Raw profile type \(kind)\0".utf8)
        return isDeflated ? ("zTXt", keyword + [0] + DrawnPNG.zlib(text)) : ("tEXt", keyword + text)
    }

    func testEXIFInTextIsRead() throws {
        for isDeflated in [false, true] {
            for kind in ["exif", "APP1"] {
                // Given
                let text = rawProfile(Self.exif(6), kind: kind, isDeflated: isDeflated)

                // When
                let (early, late) = (try header { $0.early = [text] }, try header { $0.late = [text] })

                // Then
                for header in [early, late] {
                    XCTAssertEqual(header.orientation, .right)
                    XCTAssertEqual(header.exif, Self.exif(6))
                }
                XCTAssertEqual(try header { $0.early = [text, ("eXIf", Self.exif(3))] }.orientation, .down)
            }
        }
    }

    func testUnreadableEXIFInTextIsNone() throws {
        // Given a text that inflates to far more, one that is cut, and one of another kind
        let bomb = ("zTXt", Array("Raw profile type exif\0\0".utf8) + DrawnPNG.zlib([UInt8](repeating: 0x30, count: 200 << 10)))
        var cut = rawProfile(Self.exif(6), isDeflated: true)
        cut.bytes.removeLast(20)
        let empty = ("tEXt", Array("Raw profile type exif\0".utf8))
        let other = ("tEXt", Array("Raw profile type APP1\0\nAPP1\n 4\n30313233\n".utf8))

        for chunk in [bomb, cut, empty, other] {
            // When, then
            let header = try header { $0.early = [chunk] }
            XCTAssertEqual(header.orientation, .up)
            XCTAssertNil(header.exif)
        }
    }

    static func gamma(_ value: Int) -> (name: String, bytes: [UInt8]) { ("gAMA", DrawnPNG.number(value)) }

    static let sRGBPrimaries = (
        name: "cHRM", bytes: [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000].flatMap(DrawnPNG.number)
    )

    static func profileChunk(_ profile: [UInt8]) -> (name: String, bytes: [UInt8]) {
        ("iCCP", Array("test\0\0".utf8) + DrawnPNG.zlib(profile))
    }

    static func exif(_ orientation: UInt8) -> [UInt8] {
        Array("II*\0\u{8}\0\0\0\u{1}\0\u{12}\u{1}\u{3}\0\u{1}\0\0\0".utf8) + [orientation, 0, 0, 0, 0, 0, 0, 0]
    }

    /// The smallest ICC profile of a display (ICC.1 §7.2): a header, and a table of one tag with a text.
    static let profile: [UInt8] = {
        // Long enough for libpng, which treats very short chunks as damaged.
        let text = Array("text\0\0\0\0No rights reserved: this profile is of no display and was made up for a test\0\0\0\0".utf8)
        let tag = Array("cprt".utf8) + DrawnPNG.number(144) + DrawnPNG.number(text.count) + text
        var bytes = [UInt8](repeating: 0, count: 128) + DrawnPNG.number(1) + tag
        func put(_ text: [UInt8], at place: Int) { bytes.replaceSubrange(place..<(place + text.count), with: text) }
        put(DrawnPNG.number(bytes.count), at: 0)
        put([4, 0x20, 0, 0] + Array("mntrRGB XYZ ".utf8), at: 8)
        put(Array("acsp".utf8), at: 36)
        put([0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D], at: 68)
        return bytes
    }()
}
