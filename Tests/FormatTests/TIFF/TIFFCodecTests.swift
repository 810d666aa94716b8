#if TIFF
    import FormatFixtures
    import OnesheetCore
    import OnesheetTesting
    import TIFFCodec
    import XCTest

    final class TIFFCodecTests: XCTestCase {
        private let codec = TIFFCodec()

        private func decoded(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest()) throws -> RowCollector {
            var sink = RowCollector()
            try codec.decode(file.span, request, into: &sink)
            XCTAssertEqual(sink.breaches, [])
            XCTAssertTrue(sink.isComplete)
            return sink
        }

        private func header(_ file: [UInt8]) throws -> ImageHeader { try codec.header(of: file.span) }

        private func assertFails(_ file: [UInt8], _ error: CodecError, line: UInt = #line) {
            XCTAssertThrowsError(try decoded(file), line: line) { XCTAssertEqual($0 as? CodecError, error, line: line) }
        }

        private func assertShows(_ drawing: DrawnTIFF, _ model: ColorModel, line: UInt = #line) throws {
            let sink = try decoded(drawing.file)
            XCTAssertEqual(sink.planes.first, drawing.decoded, "\(drawing)", line: line)
            XCTAssertEqual(sink.layout?.model, model, line: line)
        }

        func testThatEveryColourAndDepthIsThatOfTheDrawing() throws {
            for (width, height) in [(1, 1), (13, 11), (70, 40)] {
                for bits in [1, 2, 4, 8, 16] {
                    try assertShows(DrawnTIFF(width: width, height: height, .black0, bits: bits), .gray)
                    try assertShows(DrawnTIFF(width: width, height: height, .white0, bits: bits), .gray)
                    try assertShows(DrawnTIFF(width: width, height: height, .rgb, bits: bits), .rgb)
                    if bits < 16 { try assertShows(DrawnTIFF(width: width, height: height, .palette, bits: bits), .rgb) }
                    if bits >= 8 { try assertShows(DrawnTIFF(width: width, height: height, .cmyk, bits: bits), .cmyk) }
                }
            }
        }

        func testThatEveryCompressionAndLayoutIsRead() throws {
            for compression in DrawnTIFF.Compression.allCases where ![.fax4, .jpeg, .lzma].contains(compression) {
                for isSeparate in [false, true] {
                    for tile in [nil, (width: 16, height: 16), (width: 32, height: 48)] {
                        var drawing = DrawnTIFF(width: 50, height: 37, alpha: .straight, compression: compression)
                        (drawing.isSeparate, drawing.tile) = (isSeparate, tile)
                        try assertShows(drawing, .rgb)
                    }
                }
            }
            try assertShows(DrawnTIFF(width: 50, height: 37, .white0, bits: 1, compression: .fax4), .gray)
        }

        func testThatJPEGWithinIsConvertedToRGB() throws {
            // Given a soft picture, which JPEG keeps
            let drawing = DrawnTIFF(width: 24, height: 24, compression: .jpeg)
            // When
            let pixels = try decoded(drawing.file).planes[0]
            // Then
            let distance = zip(pixels, drawing.decoded).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } / pixels.count
            XCTAssertLessThan(distance, 12)
            XCTAssertEqual(pixels.count, 24 * 24 * 3)
            XCTAssertTrue(try header(drawing.file).isProgressive)
        }

        func testThatEachByteOrderAndSizeOfOffsetsIsRead() throws {
            for (isBig, isBigEndian) in [(false, false), (false, true), (true, false), (true, true)] {
                for bits in [8, 16] {
                    var drawing = DrawnTIFF(width: 20, height: 10, bits: bits)
                    (drawing.isBig, drawing.isBigEndian) = (isBig, isBigEndian)
                    XCTAssertTrue(codec.recognizes(drawing.file.span))
                    try assertShows(drawing, .rgb)
                }
            }
        }

        func testThatColoursArePremultipliedNoMore() throws {
            for alpha in DrawnTIFF.Alpha.allCases {
                for bits in [8, 16] {
                    // Given
                    let drawing = DrawnTIFF(width: 24, height: 6, bits: bits, alpha: alpha)
                    // When
                    let pixels = try decoded(drawing.file).planes[0]
                    // Then an eighth bit may have been lost
                    XCTAssertEqual(pixels.count, drawing.decoded.count)
                    XCTAssertTrue(zip(pixels, drawing.decoded).allSatisfy { abs(Int($0) - Int($1)) <= 2 }, "\(drawing)")
                    XCTAssertEqual(try header(drawing.file).hasAlpha, alpha == .straight || alpha == .premultiplied)
                }
            }
        }

        func testThatTheHeaderHasOrientationProfileAndCopyright() throws {
            for orientation in Orientation.allCases {
                // Given
                var drawing = DrawnTIFF(width: 20, height: 10)
                drawing.orientation = orientation.rawValue
                drawing.profile = DrawnProfile.displayP3
                drawing.copyright = "A. Painter"
                // When
                let header = try header(drawing.file)
                // Then
                XCTAssertEqual(header.orientation, orientation)
                XCTAssertEqual([header.width, header.height], [20, 10])
                XCTAssertEqual(header.colors, .icc(DrawnProfile.displayP3))
                XCTAssertEqual(header.copyright, "A. Painter")
            }
            XCTAssertEqual(try header(DrawnTIFF(width: 2, height: 2).file).colors, .sRGB)
        }

        func testThatOtherFormsAreRefusedByName() {
            var signed = DrawnTIFF(width: 9, height: 9)
            signed.tags = [(339, 2)]
            var lab = DrawnTIFF(width: 9, height: 9)
            lab.tags = [(262, 8)]
            var inks = DrawnTIFF(width: 9, height: 9, .cmyk)
            inks.tags = [(332, 2)]
            var tiles = DrawnTIFF(width: 9, height: 9)
            tiles.tile = (1024, 16)
            assertFails(DrawnTIFF(width: 9, height: 9, compression: .lzma).file, .unsupported("the compression 34925 in TIFF"))
            assertFails(signed.file, .unsupported("samples in TIFF that are not whole numbers from 0"))
            assertFails(lab.file, .unsupported("L*a*b* in TIFF"))
            assertFails(inks.file, .unsupported("inks other than CMYK in TIFF"))
            assertFails(tiles.file, .unsupported("tiles in TIFF that are larger than the image"))
        }

        func testThatHugeSidesAreRefusedFromTheHeader() throws {
            // Given a small file that announces four gigapixels
            var file = DrawnTIFF(width: 3, height: 2, compression: .none).file
            for tag: UInt8 in [0, 1] {
                let place = try XCTUnwrap(
                    (8..<file.count - 12).first { Array(file[$0..<$0 + 2]) == [tag, 1] && file[$0 + 4] == 1 })
                file.replaceSubrange(place + 2..<place + 12, with: [4, 0, 1, 0, 0, 0, 0xFF, 0xFF, 0, 0])
            }
            // Then
            assertFails(file, .tooManyPixels(width: 65_535, height: 65_535, limit: Limits().pixels))
            XCTAssertGreaterThan(codec.memoryToDecode(try header(file)), 65_535 * 32)
        }

        func testThatOnlyTheFirstPictureIsRead() throws {
            // Given a file whose next directory is behind its end
            var file = DrawnTIFF(width: 20, height: 10).file
            let directory = file[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
            let next = directory + 2 + Int(file[directory]) * 12
            file.replaceSubrange(next..<next + 4, with: [0xFF, 0xFF, 0xFF, 0x7F])
            // Then
            XCTAssertEqual(try decoded(file).planes.first, DrawnTIFF(width: 20, height: 10).decoded)
        }

        func testThatADeadlineThatHasPassedEndsTheWork() {
            for tile in [nil, (width: 64, height: 64)] {
                // Given
                var drawing = DrawnTIFF(width: 300, height: 300)
                drawing.tile = tile
                let file = drawing.file
                for looks in 0...2 {
                    // When
                    let request = DecodeRequest(acceptsTruncated: true, deadline: LookedAtClock().deadline(after: looks))
                    // Then
                    XCTAssertThrowsError(try decoded(file, request)) { XCTAssertEqual($0 as? CodecError, .timedOut) }
                }
            }
        }

        /// A gray picture of four rows, whose directory comes first and whose rows have a strip each.
        private func rowsAtTheEnd() -> [UInt8] {
            func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
            func long(_ value: Int) -> [UInt8] { word(value & 0xFFFF) + word(value >> 16) }
            let entries: [[Int]] = [
                [256, 1, 5], [257, 1, 4], [258, 1, 8], [259, 1, 1], [262, 1, 1], [273, 4, 122], [277, 1, 1], [278, 1, 1],
                [279, 4, 138],
            ]
            var file = Array("II*\0".utf8)
            file += long(8)
            file += word(entries.count)
            for entry in entries {
                file += word(entry[0])
                file += word(4)
                file += long(entry[1])
                file += long(entry[2])
            }
            file += long(0)
            for row in 0..<4 { file += long(154 + row * 5) }
            for _ in 0..<4 { file += long(5) }
            file += (1...20).map { UInt8($0) }
            return file
        }

        func testThatATruncatedFileIsReadAsFarAsItGoesIfThatIsAccepted() throws {
            // Given
            let file = rowsAtTheEnd()
            let cut = Array(file.dropLast(7))
            // Then
            XCTAssertEqual(try decoded(file).planes.first, (1...20).map { UInt8($0) })
            assertFails(cut, .truncated)
            XCTAssertEqual(
                try decoded(cut, DecodeRequest(acceptsTruncated: true)).planes.first,
                (1...10).map { UInt8($0) } + [UInt8](repeating: 0, count: 10))
            assertFails(Array(file.prefix(7)), .truncated)
            assertFails([], .truncated)
        }

        func testThatTheSampleIsUnderstood() throws {
            XCTAssertEqual(TIFFCodec.sampleConfiguration, "type: tiff")
            let configuration = try ConfigurationDecoder().decode(TIFFCodec.Configuration.self, from: .mapping([:]))
            XCTAssertEqual(TIFFCodec(configuration, context: .forTesting()).format, .tiff)
        }
    }
#endif
