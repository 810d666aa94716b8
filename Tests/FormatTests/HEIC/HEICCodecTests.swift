#if HEIC
    import FormatFixtures
    import HEICCodec
    import OnesheetCore
    import OnesheetTesting
    import XCTest

    final class HEICCodecTests: XCTestCase {
        private let codec = HEICCodec()

        private func decoded(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest()) throws -> RowCollector {
            var sink = RowCollector()
            try codec.decode(file.span, request, into: &sink)
            XCTAssertEqual(sink.breaches, [])
            XCTAssertTrue(sink.isComplete)
            return sink
        }

        private func header(_ file: [UInt8]) throws -> ImageHeader { try codec.header(of: file.span) }

        private func assertFails(_ file: [UInt8], _ error: CodecError, line: UInt = #line) {
            XCTAssertThrowsError(try header(file), line: line) { XCTAssertEqual($0 as? CodecError, error, line: line) }
            XCTAssertThrowsError(try decoded(file), line: line) { XCTAssertEqual($0 as? CodecError, error, line: line) }
        }

        /// The average difference of samples.
        private func distance(_ pixels: [UInt8], _ drawn: [UInt8]) -> Double {
            XCTAssertEqual(pixels.count, drawn.count)
            return Double(zip(pixels, drawn).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(max(pixels.count, 1))
        }

        /// The places at which a text stands in a file.
        private func places(of text: String, in file: [UInt8]) -> [Int] {
            let bytes = Array(text.utf8)
            return (0..<max(0, file.count - bytes.count)).filter { file[$0...].starts(with: bytes) }
        }

        func testThatThePixelsAreThoseOfTheDrawing() throws {
            // Given whole pictures, and those that are cut from a grid
            for (width, height) in [(64, 64), (33, 21), (100, 70)] {
                for hasAlpha in [false, true] {
                    let drawing = DrawnHEIC(width: width, height: height, hasAlpha: hasAlpha)
                    // When
                    let sink = try decoded(drawing.file)
                    // Then
                    XCTAssertLessThan(distance(sink.planes[0], drawing.decoded), 4, "\(drawing)")
                    XCTAssertEqual(sink.layout?.hasAlpha, hasAlpha)
                    XCTAssertTrue(codec.recognizes(drawing.file.span))
                }
            }
        }

        func testThatTenBitsBecomeEight() throws {
            var drawing = DrawnHEIC(width: 64, height: 64)
            drawing.bits = 10
            XCTAssertLessThan(distance(try decoded(drawing.file).planes[0], drawing.decoded), 4)
        }

        func testThatAGridIsPutTogetherCutAndTurned() throws {
            for turns in 0...3 {
                // Given
                var drawing = DrawnHEICGrid(columns: 3, rows: 2, width: 150, height: 100)
                drawing.turns = turns
                // When
                let file = drawing.file
                let facts = try header(file)
                let pixels = try decoded(file).planes[0]
                // Then each pixel is that of the drawing, turned against the clock
                XCTAssertEqual([facts.width, facts.height], turns % 2 == 0 ? [150, 100] : [100, 150])
                let stored = drawing.decoded
                let drawn = (0..<(facts.width * facts.height)).flatMap { place -> ArraySlice<UInt8> in
                    let (x, y) = (place % facts.width, place / facts.width)
                    let (fromX, fromY) = [(x, y), (149 - y, x), (149 - x, 99 - y), (y, 99 - x)][turns]
                    return stored[(fromY * 150 + fromX) * 3..<(fromY * 150 + fromX) * 3 + 3]
                }
                XCTAssertLessThan(distance(pixels, drawn), 4, "\(turns) turns")
            }
        }

        func testThatAGridOfManyMorePixelsThanItShowsIsRefused() {
            let file = DrawnHEICGrid(columns: 20, rows: 15, width: 64, height: 64).file
            assertFails(file, .unsupported("HEIC of \(300 * 64 * 64) coded pixels for 64 × 64 visible ones"))
        }

        func testThatAGridThatIsLargerThanTheFileSaysIsRefused() {
            // The library would make a canvas of 3.6 billion pixels.
            var drawing = DrawnHEICGrid(columns: 1, rows: 1, width: 64, height: 64)
            drawing.canvas = (60_000, 60_000)
            assertFails(drawing.file, .unsupported("HEIC of 3600000000 coded pixels for 64 × 64 visible ones"))
        }

        func testThatColoursArePremultipliedNoMore() throws {
            var drawing = DrawnHEIC(width: 64, height: 64, hasAlpha: true)
            drawing.isPremultiplied = true
            XCTAssertLessThan(distance(try decoded(drawing.file).planes[0], drawing.decoded), 6)
        }

        func testThatEachOrientationIsUpright() throws {
            for orientation in Orientation.allCases {
                // Given
                var drawing = DrawnHEIC(width: 64, height: 128)
                drawing.orientation = orientation
                // When
                let file = drawing.file
                let facts = try header(file)
                let pixels = try decoded(file).planes[0]
                // Then the corner that is the upper left one has moved, and no more turn is due
                let sides = orientation.swapsSides ? [128, 64] : [64, 128]
                XCTAssertEqual([facts.width, facts.height], sides)
                XCTAssertEqual(facts.orientation, .up)
                let corners: [Orientation: (Int, Int)] = [
                    .up: (0, 0), .upMirrored: (63, 0), .down: (63, 127), .downMirrored: (0, 127), .leftMirrored: (0, 0),
                    .right: (0, 127), .rightMirrored: (63, 127), .left: (63, 0),
                ]
                let corner = corners[orientation] ?? (-1, -1)
                let stored = (corner.1 * 64 + corner.0) * 3
                XCTAssertLessThan(
                    distance(Array(pixels[..<3]), Array(drawing.decoded[stored..<stored + 3])), 8, "\(orientation) \(pixels[..<3])")
            }
        }

        func testThatTheHeaderHasProfileAndCopyrightAndAnUprightExif() throws {
            // Given orientation 6 and a copyright
            var drawing = DrawnHEIC(width: 64, height: 64)
            drawing.profile = DrawnProfile.displayP3
            drawing.exif = Array("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0\u{6}\0\0\0\0\0\0".utf8)
            // When
            let header = try header(drawing.file)
            // Then
            XCTAssertEqual(header.colors, .icc(DrawnProfile.displayP3))
            XCTAssertEqual(header.exif.map { EXIF(tiff: $0).orientation }, .up)
            drawing.exif = EXIF.tiff(copyright: "A. Painter")
            XCTAssertEqual(try self.header(drawing.file).copyright, "A. Painter")
        }

        func testThatCodePointsAreTold() throws {
            var drawing = DrawnHEIC(width: 64, height: 64)
            XCTAssertEqual(try header(drawing.file).colors, .sRGB)
            drawing.points = (12, 13)
            guard case .primaries = try header(drawing.file).colors else { return XCTFail("not P3") }
            for (transfer, name) in [(16, "PQ"), (18, "HLG")] {
                drawing.points = (9, transfer)
                assertFails(drawing.file, .unsupported("the transfer function \(name) (high dynamic range)"))
            }
        }

        func testThatAStreamLargerThanItsPictureIsRefused() throws {
            // Given a picture of 64 × 64 pixels whose HEVC stream is that of a large one
            let (small, large) = (DrawnHEIC(width: 64, height: 64).file, DrawnHEIC(width: 1104, height: 1104).file)
            var file = large
            let sizes = places(of: "ispe", in: file)
            XCTAssertFalse(sizes.isEmpty)
            for place in sizes { file.replaceSubrange(place + 8..<place + 16, with: [0, 0, 0, 64, 0, 0, 0, 64]) }
            // Then
            XCTAssertNoThrow(try header(small))
            XCTAssertNoThrow(try header(large))
            assertFails(file, .unsupported("HEIC of \(1104 * 1104) coded pixels for 64 × 64 visible ones"))
        }

        func testThatOtherItemsAndStreamsAreRefused() throws {
            // Given a picture whose items are of another kind
            let file = DrawnHEIC(width: 64, height: 64).file
            for kind in ["av01", "iovl", "iden", "jpeg"] {
                var other = file
                for place in places(of: "hvc1", in: file) { other.replaceSubrange(place..<place + 4, with: Array(kind.utf8)) }
                assertFails(other, .unsupported("items of the kind “\(kind)” in HEIC"))
            }
            // Then so is one with parameters within the picture, and one with a slice of no picture
            let start = try XCTUnwrap(places(of: "mdat", in: file).first) + 4
            var other = file
            other[start + 4] = 33 << 1
            assertFails(other, .unsupported("HEVC parameters within an image in HEIC"))
            other = file
            var place = start
            while place + 6 < file.count {
                if file[place + 4] >> 1 < 32 { other[place + 6] &= 0x7F }
                place += 4 + file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            assertFails(other, .damaged(reason: "the HEVC stream has 0 pictures"))
        }

        func testThatMorePiecesThanAnyoneWritesAreRefused() {
            // Given a file whose two items have 1,025 pieces each, which take no bytes
            func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
                [0, 0, 0, UInt8(body.count + 8)] + Array(name.utf8) + body
            }
            let full: [UInt8] = [0, 0, 0, 0]
            let places = [0, 0, 0, 2] + [0, 1, 0, 0, 4, 1] + [0, 2, 0, 0, 4, 1] as [UInt8]
            let meta = box("pitm", full + [0, 1]) + box("iinf", full + [0, 0]) + box("iloc", full + places) + box("iprp", [])
            // Then
            assertFails(
                box("ftyp", Array("heic\0\0\0\0mif1heic".utf8)) + box("meta", full + meta),
                .unsupported("HEIC of more than 2048 items"))
        }

        func testThatBoxesThatAreThereTwiceAreRefused() throws {
            // Given
            let file = DrawnHEIC(width: 64, height: 64).file
            let place = try XCTUnwrap(places(of: "meta", in: file).first) - 4
            let size = file[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            // Then
            assertFails(file + file[place..<place + size], .damaged(reason: "there are 2 boxes “meta”"))
        }

        func testThatADeadlineThatHasPassedEndsTheWork() throws {
            let file = DrawnHEIC(width: 320, height: 320).file
            for looks in 0...1 {
                let request = DecodeRequest(acceptsTruncated: true, deadline: LookedAtClock().deadline(after: looks))
                XCTAssertThrowsError(try decoded(file, request)) { XCTAssertEqual($0 as? CodecError, .timedOut) }
            }
            XCTAssertGreaterThan(codec.memoryToDecode(try header(file)), 320 * 320 * 16)
        }

        func testThatTheSampleIsUnderstood() throws {
            XCTAssertEqual(HEICCodec.sampleConfiguration, "type: heic")
            let configuration = try ConfigurationDecoder().decode(HEICCodec.Configuration.self, from: .mapping([:]))
            XCTAssertEqual(HEICCodec(configuration, context: .forTesting()).format, .heic)
        }
    }
#endif
