#if JXL
    import FormatFixtures
    import JPEGXLCodec
    import OnesheetCore
    import OnesheetTesting
    import XCTest

    final class JPEGXLCodecTests: XCTestCase {
        private let codec = JPEGXLCodec()

        private func decoded(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest()) throws -> RowCollector {
            var sink = RowCollector()
            try codec.decode(file.span, request, into: &sink)
            XCTAssertEqual(sink.breaches, [])
            XCTAssertTrue(sink.isComplete)
            return sink
        }

        private func header(_ file: [UInt8]) throws -> ImageHeader { try codec.header(of: file.span) }

        /// The average difference of samples.
        private func distance(_ pixels: [UInt8], _ drawn: [UInt8]) -> Double {
            XCTAssertEqual(pixels.count, drawn.count)
            return Double(zip(pixels, drawn).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(max(pixels.count, 1))
        }

        func testThatALosslessPictureIsThatOfTheDrawing() throws {
            for (width, height) in [(1, 1), (33, 21), (300, 270)] {
                for isGray in [false, true] {
                    for hasAlpha in [false, true] {
                        for bits in [8, 16] {
                            // Given
                            var drawing = DrawnJPEGXL(width: width, height: height, isGray: isGray, hasAlpha: hasAlpha)
                            drawing.bits = bits
                            // When
                            let sink = try decoded(drawing.file)
                            // Then
                            XCTAssertEqual(sink.planes.first, drawing.decoded, "\(drawing)")
                            XCTAssertEqual(sink.layout?.model, isGray ? .gray : .rgb)
                            XCTAssertEqual(sink.layout?.hasAlpha, hasAlpha)
                        }
                    }
                }
            }
        }

        func testThatAFileOfManyPiecesIsThatOfTheDrawing() throws {
            for exif in [nil, EXIF.tiff(copyright: "A. Painter")] {
                // Given a file, with and without a container
                var drawing = DrawnJPEGXL(width: 300, height: 150)
                drawing.isNoisy = true
                drawing.exif = exif
                // When
                let file = drawing.file
                let clock = LookedAtClock()
                let sink = try decoded(file, DecodeRequest(deadline: clock.deadline(after: .max)))
                // Then
                XCTAssertEqual(sink.planes.first, drawing.decoded)
                XCTAssertGreaterThan(clock.looks, file.count >> 14)
            }
        }

        func testThatALossyPictureIsCloseToTheDrawing() throws {
            for isGray in [false, true] {
                let drawing = DrawnJPEGXL(width: 60, height: 40, isGray: isGray, isLossless: false)
                XCTAssertLessThan(distance(try decoded(drawing.file).planes[0], drawing.decoded), 4, "\(drawing)")
                XCTAssertEqual(try header(drawing.file).colors, .sRGB)
            }
        }

        func testThatColoursArePremultipliedNoMore() throws {
            // Given
            var drawing = DrawnJPEGXL(width: 32, height: 8, hasAlpha: true)
            drawing.isPremultiplied = true
            // When
            let pixels = try decoded(drawing.file).planes[0]
            // Then the visible ones are those of the drawing
            for place in stride(from: 0, to: pixels.count, by: 4) where pixels[place + 3] > 0 {
                for channel in place..<(place + 3) {
                    XCTAssertLessThanOrEqual(abs(Int(pixels[channel]) - Int(drawing.decoded[channel])), 2)
                }
            }
        }

        func testThatTheHeaderHasOrientationAndExif() throws {
            for orientation in Orientation.allCases {
                // Given
                var drawing = DrawnJPEGXL(width: 20, height: 10)
                drawing.orientation = orientation
                drawing.exif = EXIF.tiff(copyright: "A. Painter")
                // When
                let header = try header(drawing.file)
                // Then the pixels are as stored
                XCTAssertEqual(header.orientation, orientation)
                XCTAssertEqual([header.width, header.height], [20, 10])
                XCTAssertEqual(header.copyright, "A. Painter")
                XCTAssertEqual(try decoded(drawing.file).planes.first, drawing.decoded)
            }
        }

        func testThatTheProfileIsToldIfTheSamplesAreInItsSpace() throws {
            var drawing = DrawnJPEGXL(width: 20, height: 10)
            drawing.colors = .profile(DrawnProfile.displayP3)
            XCTAssertEqual(try header(drawing.file).colors, .icc(DrawnProfile.displayP3))
            // And a lossy one comes in sRGB, whatever its profile was.
            drawing.isLossless = false
            XCTAssertEqual(try header(drawing.file).colors, .sRGB)
            XCTAssertNoThrow(try decoded(drawing.file))
            // And a named space has a profile of libjxl's.
            drawing.colors = .displayP3
            guard case .icc = try header(drawing.file).colors else { return XCTFail("no profile") }
        }

        func testThatHighDynamicRangeAndInksAreRefusedByName() throws {
            var bright = DrawnJPEGXL(width: 20, height: 10, isLossless: false)
            var inks = DrawnJPEGXL(width: 20, height: 10)
            inks.hasBlack = true
            var many = DrawnJPEGXL(width: 20, height: 10)
            many.extraChannels = 5
            for (colors, name) in [(DrawnJPEGXL.Colors.pq, "PQ"), (.hlg, "HLG")] {
                bright.colors = colors
                XCTAssertThrowsError(try header(bright.file)) {
                    XCTAssertEqual($0 as? CodecError, .unsupported("the transfer function \(name) (high dynamic range)"))
                }
                XCTAssertThrowsError(try decoded(bright.file))
            }
            XCTAssertThrowsError(try header(inks.file)) { XCTAssertEqual($0 as? CodecError, .unsupported("CMYK in JPEG XL")) }
            XCTAssertThrowsError(try header(many.file)) {
                XCTAssertEqual($0 as? CodecError, .unsupported("JPEG XL of 5 extra channels"))
            }
        }

        func testThatTheFirstFrameOfAnAnimationIsRead() throws {
            var drawing = DrawnJPEGXL(width: 20, height: 10)
            drawing.frames = 3
            XCTAssertEqual(try decoded(drawing.file).planes.first, drawing.decoded)
        }

        func testThatADeadlineEndsTheWorkBetweenAnyTwoPieces() throws {
            for isLossless in [false, true] {
                var drawing = DrawnJPEGXL(width: 600, height: 400, hasAlpha: true, isLossless: isLossless)
                drawing.isNoisy = true
                // Given the number of looks at the clock
                let file = drawing.file
                let clock = LookedAtClock()
                _ = try decoded(file, DecodeRequest(deadline: clock.deadline(after: .max)))
                XCTAssertGreaterThan(clock.looks, 4)
                for looks in stride(from: 0, to: clock.looks, by: max(1, clock.looks / 20)) {
                    for acceptsTruncated in [false, true] {
                        // When
                        let deadline = LookedAtClock().deadline(after: looks)
                        let request = DecodeRequest(acceptsTruncated: acceptsTruncated, deadline: deadline)
                        // Then
                        XCTAssertThrowsError(try decoded(file, request), "\(looks)") {
                            XCTAssertEqual($0 as? CodecError, .timedOut)
                        }
                    }
                }
            }
        }

        func testThatATruncatedFileIsReadAsFarAsItGoesIfThatIsAccepted() throws {
            // Given
            let file = DrawnJPEGXL(width: 600, height: 400, isLossless: false).file
            let cut = Array(file.dropLast(file.count / 8))
            // Then
            XCTAssertThrowsError(try decoded(cut)) { XCTAssertEqual($0 as? CodecError, .truncated) }
            XCTAssertEqual(try decoded(cut, DecodeRequest(acceptsTruncated: true)).layout?.width, 600)
        }

        func testThatTheSampleIsUnderstood() throws {
            XCTAssertEqual(JPEGXLCodec.sampleConfiguration, "type: jxl")
            let configuration = try ConfigurationDecoder().decode(JPEGXLCodec.Configuration.self, from: .mapping([:]))
            XCTAssertEqual(JPEGXLCodec(configuration, context: .forTesting()).format, .jxl)
        }
    }
#endif
