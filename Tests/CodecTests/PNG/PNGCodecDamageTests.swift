import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

/// Damaged files: named errors, equal from both decoders.
final class PNGCodecDamageTests: XCTestCase {
    private let drawn = DrawnPNG(kind: .rgb, depth: 8)

    /// The result of both decoders for a file; they must agree.
    private func outcome(_ file: [UInt8], line: UInt = #line, acceptsTruncated: Bool = false) -> Result<[UInt8]?, CodecError> {
        let outcomes = [PNGCodec(), PNGCodec(onlyLibpng: true)].map { codec in
            Result { () throws(CodecError) in try codec.decoded(file, DecodeRequest(acceptsTruncated: acceptsTruncated)).rgba }
        }
        XCTAssertEqual(outcomes[0], outcomes[1], "the paths differ", line: line)
        return outcomes[0]
    }

    private func file(_ chunks: [(name: String, bytes: [UInt8])]) -> [UInt8] { DrawnPNG.file(header: drawn.header, chunks: chunks) }

    private func picture(_ stream: [UInt8]) -> [UInt8] { file(drawn.pictureChunks(stream)) }

    func testThatWhatIsNotPNGIsDamaged() {
        XCTAssertEqual(outcome(Array("<html>not a picture</html>".utf8)), .failure(.damaged(reason: "not a PNG file")))
    }

    func testThatTransparencyBeforeThePaletteHasNoEffect() {
        for isInterlaced in [false, true] {
            // Given a picture of RGB with a transparent colour before a suggested palette, where libpng forgets it, and another one at the
            // end, which only libpng reads
            var drawn = drawn
            drawn.isInterlaced = isInterlaced
            let transparency = ("tRNS", (0..<3).reduce(into: [UInt8]()) { $0 += [0, UInt8(drawn.sample(0, 0, $1))] })
            let rows = drawn.pictureChunks(DrawnPNG.zlib(drawn.scanlines))
            for late in [[], [transparency]] {
                let file = DrawnPNG.file(header: drawn.header, chunks: [transparency, ("PLTE", [1, 2, 3])] + rows + late)
                // Then header and rows agree that there is none
                XCTAssertEqual(outcome(file), .success(drawn.rgba), "\(isInterlaced) \(late.count)")
                XCTAssertEqual(try PNGCodec().header(of: file.span).hasAlpha, false)
            }
        }
    }

    func testThatNothingIsTruncated() {
        XCTAssertEqual(outcome([]), .failure(.truncated))
    }

    /// The drawn picture in this many chunks.
    private func split(_ count: Int) -> DrawnPNG {
        var drawn = drawn
        drawn.split = DrawnPNG.zlib(drawn.scanlines).count / count + 1
        return drawn
    }

    func testThatAWrongChecksumBehindTheLastRowIsNoDamage() {
        for drawn in [drawn, split(3)] {
            // Given
            var bytes = drawn.file
            bytes[bytes.count - 13] ^= 1

            // Then
            XCTAssertEqual(outcome(bytes), .success(drawn.rgba))
        }
    }

    func testAWrongChecksumOfAChunkIsNoDamageWhereTheStreamIsRight() {
        for isInterlaced in [false, true] {
            // Given the first of three chunks
            var drawn = drawn
            drawn.isInterlaced = isInterlaced
            drawn.split = DrawnPNG.zlib(drawn.scanlines).count / 3 + 1
            var bytes = drawn.file
            bytes[33 + 8 + drawn.split] ^= 1

            // Then
            XCTAssertEqual(outcome(bytes), .success(drawn.rgba))

            // Without the stream's checksum, or with a wrong one, no check covers the rows.
            var wrong = bytes
            wrong[bytes.count - 17] ^= 1
            XCTAssertEqual(outcome(wrong), .failure(.damaged(reason: "IDAT: incorrect data check")))
            XCTAssertEqual(outcome(bytes.dropLast(18)), .failure(.truncated))
        }
    }

    func testThatAWrongPixelIsDamage() {
        // Given wrong checksums of the chunk and of the stream
        for drawn in [drawn, split(3)] {
            for place in [60, drawn.file.count - 40] {
                var bytes = drawn.file
                bytes[place] ^= 1

                // Then
                guard case .failure(.damaged) = outcome(bytes) else { return XCTFail("byte \(place)") }
            }
        }
    }

    func testThatAWrongChecksumOfTheHeaderIsDamage() {
        // Given
        var bytes = drawn.file
        bytes[29] ^= 1

        // Then
        XCTAssertEqual(outcome(bytes), .failure(.damaged(reason: "IHDR: CRC error")))
    }

    func testThatAWrongAdlerIsNoDamageWhereTheChunkIsRight() {
        // Given
        var stream = DrawnPNG.zlib(drawn.scanlines)
        stream[stream.count - 1] ^= 1

        // Then
        XCTAssertEqual(outcome(picture(stream)), .success(drawn.rgba))

        // Otherwise no check covers the rows.
        var bytes = picture(stream)
        bytes[bytes.count - 13] ^= 1
        XCTAssertEqual(outcome(bytes), .failure(.damaged(reason: "IDAT: incorrect data check")))
    }

    func testThatWhatStandsBehindTheLastRowMayBeMissing() {
        for var drawn in DrawnPNG.everyKind {
            for isInterlaced in [false, true] {
                drawn.isInterlaced = isInterlaced
                let (file, rgba) = (drawn.file, drawn.rgba)
                // IEND takes 12 bytes, the checksum of the chunk 4, that of the stream 4.
                for missing in 0...20 {
                    XCTAssertEqual(outcome(file.dropLast(missing)), .success(rgba), "\(drawn.name), \(missing)")
                }
                XCTAssertEqual(outcome(file.dropLast(21)), .failure(.truncated), drawn.name)
            }
        }
    }

    func testThatGarbageBehindTheLastChunkOfThePictureIsNoDamage() {
        // Given
        let end = drawn.file.count - 12

        // Then
        for garbage in [[UInt8]](arrayLiteral: [1], [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3, 4], .init(repeating: 7, count: 100)) {
            XCTAssertEqual(outcome(Array(drawn.file[..<end]) + garbage), .success(drawn.rgba))
        }
    }

    func testThatTooFewRowsAreDamage() {
        // Given
        let stream = DrawnPNG.zlib(drawn.scanlines.dropLast(40))

        // Then
        XCTAssertEqual(outcome(picture(stream)), .failure(.damaged(reason: "Not enough image data")))
    }

    func testDamagedEXIFIsNone() throws {
        for isBehind in [false, true] {
            // Given
            var turned = drawn
            let exif = [(name: "eXIf", bytes: PNGCodecHeaderTests.exif(6))]
            if isBehind { turned.late = exif } else { turned.early = exif }
            var bytes = turned.file
            XCTAssertEqual(try PNGCodec().header(of: bytes.span).orientation, .right)
            bytes[(isBehind ? bytes.count - 12 - 12 - exif[0].bytes.count : 33) + 8] ^= 1

            // Then
            XCTAssertEqual(try PNGCodec().header(of: bytes.span).orientation, .up)
        }
    }

    func testThatBytesBehindTheLastRowAreNoDamage() {
        XCTAssertEqual(outcome(picture(DrawnPNG.zlib(drawn.scanlines + [1, 2, 3]))), .success(drawn.rgba))
        XCTAssertEqual(outcome(picture(DrawnPNG.zlib(drawn.scanlines) + [1, 2, 3])), .success(drawn.rgba))
        XCTAssertEqual(outcome(drawn.file + [1, 2, 3]), .success(drawn.rgba))
    }

    func testThatAFilterThatDoesNotExistIsDamage() {
        // Given
        var lines = drawn.scanlines
        lines[(13 * 3 + 1) * 2] = 5

        // Then
        XCTAssertEqual(outcome(picture(DrawnPNG.zlib(lines))), .failure(.damaged(reason: "bad adaptive filter value")))
    }

    func testThatAColourThatIsNotInThePaletteIsOpaqueBlack() {
        for depth in [1, 2, 4, 8] {
            for transparency in [nil, [0]] as [[UInt8]?] {
                for isInterlaced in [false, true] {
                    // Given a palette of two colours, of which the file has only the first
                    var palette = DrawnPNG(
                        kind: .palette, depth: depth, isInterlaced: isInterlaced, palette: [[9, 8, 7], [0, 0, 0]])
                    palette.transparency = transparency
                    let chunks =
                        [(name: "PLTE", bytes: [UInt8]([9, 8, 7]))] + palette.paletteChunks.dropFirst()
                        + palette.pictureChunks(DrawnPNG.zlib(palette.scanlines))

                    // Then
                    XCTAssertEqual(
                        outcome(DrawnPNG.file(header: palette.header, chunks: chunks)), .success(palette.rgba),
                        "\(depth) bits, tRNS: \(transparency ?? []), interlaced: \(isInterlaced)")
                }
            }
        }
    }

    func testThatAnUnknownCriticalChunkIsUnsupported() {
        XCTAssertEqual(
            outcome(file([("ABCD", [1])] + drawn.pictureChunks(DrawnPNG.zlib(drawn.scanlines)))),
            .failure(.unsupported("ABCD: unhandled critical chunk")))
    }

    func testInvalidTransparencyIsNone() throws {
        // Given a chunk with a wrong checksum, and chunks of wrong sizes
        var transparent = drawn
        transparent.transparency = [0, 1, 0, 2, 0, 3]
        var wrong = transparent.file
        wrong[33 + 8] ^= 1
        let rows = drawn.pictureChunks(DrawnPNG.zlib(drawn.scanlines))
        let files = [wrong] + [[], [1], [1, 2, 3], .init(repeating: 1, count: 300)].map { file([("tRNS", $0)] + rows) }

        for bytes in files {
            // When, then
            XCTAssertEqual(outcome(bytes), .success(drawn.rgba))
            XCTAssertFalse(try PNGCodec().header(of: bytes.span).hasAlpha)
        }
    }

    func testBitsAboveTheDepthOfATransparentColourAreIgnored() {
        for var drawn in DrawnPNG.everyKind where drawn.kind != .palette && drawn.depth < 16 {
            guard let key = drawn.transparency else { continue }
            for isInterlaced in [false, true] {
                // Given
                drawn.isInterlaced = isInterlaced
                let mask = UInt8((1 << drawn.depth) - 1)
                var high = drawn
                high.transparency = key.enumerated().map { $0 % 2 == 0 ? 0xFA : $1 | ~mask }

                // When, then
                XCTAssertEqual(outcome(high.file), .success(drawn.rgba), drawn.name)
            }
        }
    }

    func testAlphasWithoutAColourAreIgnored() {
        for isInterlaced in [false, true] {
            // Given three alphas for two colours, and far too many
            var palette = DrawnPNG(kind: .palette, depth: 8, isInterlaced: isInterlaced, palette: [[9, 8, 7], [1, 2, 3]])
            let opaque = palette.rgba
            palette.transparency = [1, 2, 3]
            var excessive = palette
            excessive.transparency = .init(repeating: 1, count: 300)

            // When, then
            XCTAssertEqual(outcome(palette.file), .success(palette.rgba))
            XCTAssertEqual(outcome(excessive.file), .success(opaque))
        }
    }

    func testPartOfAColourBehindAPaletteIsIgnored() {
        for isInterlaced in [false, true] {
            let drawn = DrawnPNG(kind: .palette, depth: 8, isInterlaced: isInterlaced, palette: [[9, 8, 7], [1, 2, 3]])
            let rows = drawn.pictureChunks(DrawnPNG.zlib(drawn.scanlines))
            for excess in [[4], [4, 5]] as [[UInt8]] {
                // Given
                let bytes = DrawnPNG.file(header: drawn.header, chunks: [("PLTE", [9, 8, 7, 1, 2, 3] + excess)] + rows)
                var wrong = bytes
                wrong[33 + 8 + 6] ^= 1

                // When, then
                XCTAssertEqual(outcome(bytes), .success(drawn.rgba))
                XCTAssertEqual(outcome(wrong), .failure(.damaged(reason: "PLTE: CRC error")))
            }
        }
    }

    func testColoursWithAWrongChecksumAreNone() throws {
        let primaries = [31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000].flatMap(DrawnPNG.number)
        let chunks: [(name: String, bytes: [UInt8])] = [
            PNGCodecHeaderTests.gamma(100_000), ("cHRM", primaries), ("cICP", [9, 16, 0, 1]),
        ]
        for chunk in chunks {
            // Given
            var coloured = drawn
            coloured.early = [chunk]
            var bytes = coloured.file
            bytes[33 + 8 + chunk.bytes.count] ^= 1

            // When, then
            XCTAssertEqual(outcome(bytes), .success(drawn.rgba))
            XCTAssertEqual(try PNGCodec().header(of: bytes.span).colors, .sRGB)
        }
    }

    func testThatDamagedRemarksAreNoDamage() {
        // Given
        var remarked = drawn
        remarked.early = [("tEXt", Array("Title\0poster".utf8))]
        var bytes = remarked.file
        bytes[33 + 8] ^= 1

        // Then
        XCTAssertEqual(outcome(bytes), .success(drawn.rgba))
    }

    func testThatManyRemarksAreNoDamage() {
        // Given
        var remarked = drawn
        remarked.early = (0..<200).map { ($0 % 2 == 0 ? "tEXt" : "abCd", Array("Title\0poster".utf8)) }
        remarked.late = remarked.early

        // Then
        XCTAssertEqual(outcome(remarked.file), .success(drawn.rgba))
    }

    func testThatAStreamWithATooSmallWindowIsAsLibpngHasIt() {
        // Given stored blocks, which need no window, so that only the header could be wrong
        var stream = DrawnPNG.zlib(drawn.scanlines)
        (stream[0], stream[1]) = (0x08, 0x1D)

        // Then
        XCTAssertEqual(outcome(picture(stream)), .success(drawn.rgba))
    }

    func testThatAnEarlyEndIsTakenWhereItIsAccepted() throws {
        for var drawn in DrawnPNG.everyKind {
            (drawn.width, drawn.height) = (40, 50)
            for count in [drawn.file.count - 12, drawn.file.count * 3 / 4] {
                // Given
                let bytes = Array(drawn.file[..<count])

                // When
                let rgba = try outcome(bytes, acceptsTruncated: true).get()

                // Then
                XCTAssertEqual(rgba?.count, drawn.rgba.count, drawn.name)
                XCTAssertEqual(rgba?.prefix(40 * 4 * 9), drawn.rgba.prefix(40 * 4 * 9), drawn.name)
            }
        }
    }

    func testThatAnInterlacedPictureThatEndsEarlyIsCoarse() throws {
        // Given
        let drawn = DrawnPNG(kind: .rgb, depth: 8, width: 16, height: 16, isInterlaced: true)

        // When five of seven passes are present
        let rgba = try outcome(Array(drawn.file[..<400]), acceptsTruncated: true).get() ?? []

        // Then every pixel of the first pass fills its block or has been refined; none is black
        XCTAssertEqual(Array(rgba.prefix(4)), Array(drawn.rgba.prefix(4)))
        XCTAssertFalse(stride(from: 0, to: rgba.count, by: 4).contains { rgba[$0..<($0 + 3)].allSatisfy { $0 == 0 } })
    }

    func testThatABombIsRefusedFromItsHeader() {
        // Given
        let bomb = DrawnPNG(kind: .rgba, depth: 16, width: 50_000, height: 50_000)
        let bytes = DrawnPNG.file(header: bomb.header, chunks: [("IDAT", DrawnPNG.zlib([0]))])

        // Then
        XCTAssertEqual(outcome(bytes), .failure(.tooManyPixels(width: 50_000, height: 50_000, limit: Limits().pixels)))
    }

    func testThatSidesBeyondTheFormatAreDamage() {
        // Given
        var bytes = drawn.file
        bytes.replaceSubrange(16..<24, with: [UInt8](repeating: 0xFF, count: 8))

        // Then
        XCTAssertEqual(outcome(bytes), .failure(.damaged(reason: "sides of more than 2³¹ − 1 pixels")))
    }

    func testThatBothPathsAgreeOnEveryFlippedByte() {
        for var drawn in DrawnPNG.everyKind where drawn.depth == 8 {
            drawn.split = 100
            let file = drawn.file
            for place in 8..<file.count {
                // Given
                var bytes = file
                bytes[place] ^= UInt8(truncatingIfNeeded: 1 << (place % 8))

                // Then
                _ = outcome(bytes)
            }
        }
    }
}
