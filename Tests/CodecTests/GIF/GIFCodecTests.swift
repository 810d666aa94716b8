import GIFCodec
import OnesheetCore
import OnesheetTesting
import XCTest

final class GIFCodecTests: XCTestCase {
    private let codec = GIFCodec()

    private func decoded(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest()) throws -> RowCollector {
        var sink = RowCollector()
        try codec.decode(file.span, request, into: &sink)
        XCTAssertEqual(sink.breaches, [])
        return sink
    }

    private func header(_ file: [UInt8]) throws -> ImageHeader { try codec.header(of: file.span) }

    private func assertFails(_ file: [UInt8], _ error: CodecError, line: UInt = #line) {
        XCTAssertThrowsError(try decoded(file), line: line) { XCTAssertEqual($0 as? CodecError, error, line: line) }
    }

    func testThatEveryPixelIsThatOfTheDrawing() throws {
        // Given every depth, in order and interlaced, small and with more codes than a table holds
        for depth in 1...8 {
            for isInterlaced in [false, true] {
                for (width, height) in [(1, 1), (3, 2), (13, 11), (150, 90)] {
                    let drawing = DrawnGIF(width: width, height: height, isInterlaced: isInterlaced, depth: depth)
                    // When
                    let sink = try decoded(drawing.file)
                    // Then
                    XCTAssertEqual(sink.rgba, drawing.rgba, "\(width) × \(height), \(depth) bits, interlaced: \(isInterlaced)")
                    XCTAssertEqual(sink.layout?.hasAlpha, false)
                    XCTAssertEqual(try header(drawing.file).isProgressive, isInterlaced)
                }
            }
        }
    }

    func testThatPixelsOfTheTransparentIndexAreTransparent() throws {
        let drawing = DrawnGIF(width: 20, height: 10, transparent: 3)
        XCTAssertEqual(try decoded(drawing.file).rgba, drawing.rgba)
        XCTAssertTrue(try header(drawing.file).hasAlpha)
    }

    func testTheLastTransparentIndexBeforeTheFrameCounts() throws {
        // Given controls before the frame, some without a transparent index, and one with more bytes than it needs
        let (two, three, none): ([UInt8], [UInt8], [UInt8]) = (
            [0x21, 0xF9, 4, 1, 0, 0, 2, 0], [0x21, 0xF9, 6, 1, 0, 0, 3, 9, 9, 0], [0x21, 0xF9, 4, 0, 0, 0, 1, 0]
        )
        for (controls, index) in [(two, 2), (two + three, 3), (three + two, 2), (two + none, 2), (none + three, 3), (none, nil)] {
            var drawing = DrawnGIF(width: 20, height: 10)
            drawing.before = controls
            // When it is decoded, then it is transparent where browsers and libvips show nothing
            XCTAssertEqual(try decoded(drawing.file).rgba, DrawnGIF(width: 20, height: 10, transparent: index).rgba)
            XCTAssertEqual(try header(drawing.file).hasAlpha, index != nil)
        }
    }

    func testAFileThatEndsBehindItsPixelsIsWhole() throws {
        for isInterlaced in [false, true] {
            let drawing = DrawnGIF(width: 60, height: 40, isInterlaced: isInterlaced)
            let whole = drawing.file
            // Given a file without its trailer, without the end of its frame too, and with another byte instead of that
            let ends: [[UInt8]] = [[0], [], [0, 1, 2, 3], [80, 0x3B], [0x3B], [255, 1, 2, 3]]
            for end in ends {
                // Then nothing is missing
                XCTAssertEqual(try decoded(whole.dropLast(2) + end).rgba, drawing.rgba, "\(end)")
            }
            // And with one pixel less, it is not whole
            assertFails(Array(whole.dropLast(5)), .truncated)
        }
    }

    func testBlocksMayHaveAnySize() throws {
        for isInterlaced in [false, true] {
            var drawing = DrawnGIF(width: 60, height: 40, isInterlaced: isInterlaced, depth: 8)
            for size in [1, 2, 3, 254] {
                // Given
                drawing.blockSize = size
                // When, then also if the file ends behind the last block
                XCTAssertEqual(try decoded(drawing.file).rgba, drawing.rgba, "\(size)")
                XCTAssertEqual(try decoded(drawing.file.dropLast(2)).rgba, drawing.rgba, "\(size)")
            }
        }
    }

    func testThatAFrameLiesOnItsCanvas() throws {
        for isInterlaced in [false, true] {
            let drawing = DrawnGIF(width: 9, height: 7, isInterlaced: isInterlaced, place: (2, 3), canvas: (20, 12))
            XCTAssertEqual(try decoded(drawing.file).rgba, drawing.rgba)
            XCTAssertTrue(try header(drawing.file).hasAlpha)
        }
    }

    func testThatAFrameBeyondTheCanvasEnlargesIt() throws {
        // Given
        let drawing = DrawnGIF(width: 9, height: 7, place: (2, 3), canvas: (5, 30))
        var whole = drawing
        whole.canvas = (11, 30)
        // Then
        XCTAssertEqual(try decoded(drawing.file).rgba, whole.rgba)
        XCTAssertEqual(try header(drawing.file).width, 11)
        // And so does one on a canvas without pixels.
        let bare = DrawnGIF(width: 9, height: 7, canvas: (0, 0))
        XCTAssertEqual(try decoded(bare.file).rgba, DrawnGIF(width: 9, height: 7).rgba)
    }

    func testThatTheFrameMayHaveItsOwnColours() throws {
        var drawing = DrawnGIF(width: 20, height: 10)
        (drawing.hasLocalMap, drawing.hasGlobalMap) = (true, false)
        XCTAssertEqual(try decoded(drawing.file).rgba, drawing.rgba)
    }

    func testThatAFileWithoutColoursIsRefused() {
        var drawing = DrawnGIF(width: 20, height: 10)
        drawing.hasGlobalMap = false
        assertFails(drawing.file, .damaged(reason: "there is no colour map"))
    }

    func testThatAFileWithoutAFrameIsRefused() {
        assertFails(
            Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 1, 1, 1, 0x3B], .damaged(reason: "there is no frame"))
        assertFails(DrawnGIF(width: 0, height: 3).file, .damaged(reason: "the frame has no pixels"))
    }

    func testThatLaterFramesAreIgnoredEvenIfTheyAreDamaged() throws {
        var drawing = DrawnGIF(width: 20, height: 10)
        drawing.after = [0x2C] + [UInt8](repeating: 0xFF, count: 40)
        XCTAssertEqual(try decoded(drawing.file).rgba, drawing.rgba)
    }

    func testThatHugeSidesAreRefusedFromTheHeader() throws {
        // Given a few bytes that announce four gigapixels
        let file = DrawnGIF(width: 1, height: 1, canvas: (65_535, 65_535)).file
        let limit = Limits().pixels
        // Then
        XCTAssertEqual(try header(file).height, 65_535)
        assertFails(file, .tooManyPixels(width: 65_535, height: 65_535, limit: limit))
    }

    func testThatManyBlocksBeforeTheFrameAreRefused() {
        // Given as many blocks as allowed, and one more
        for (blocks, isAllowed) in [(65_530, true), (65_537, false)] {
            var drawing = DrawnGIF(width: 3, height: 2)
            drawing.before = [0x21, 0xFE] + [UInt8](repeating: 1, count: blocks * 2) + [0]
            // Then
            if isAllowed {
                XCTAssertEqual(try decoded(drawing.file).rgba, drawing.rgba)
            } else {
                assertFails(drawing.file, .unsupported("more than 65536 blocks before the first frame"))
            }
        }
        // And extensions without blocks
        var empty = DrawnGIF(width: 3, height: 2)
        empty.before = [[UInt8]](repeating: [0x21, 0xFE, 0], count: 70_000).flatMap(\.self)
        assertFails(empty.file, .unsupported("more than 65536 blocks before the first frame"))
    }

    func testACodeThatIsNotInTheTableIsDamage() throws {
        // Given three pixels: an empty table, the first colour, the next code of the table, which is that colour twice, and the end
        var drawing = DrawnGIF(width: 3, height: 1, depth: 2)
        drawing.codes = [0x84, 0x0B]
        let rgba = try XCTUnwrap(decoded(drawing.file).rgba)
        XCTAssertEqual(rgba, Array(rgba[..<4] + rgba[..<4] + rgba[..<4]))
        // When the code is the one behind that, then the file is refused, as libvips and Pillow do
        drawing.codes = [0xC4, 0x0B]
        assertFails(drawing.file, .damaged(reason: "a code is not in the table"))
        // And so is the first code if it is no colour
        drawing.codes = [0xB4, 0x0B]
        assertFails(drawing.file, .damaged(reason: "a code is not in the table"))
        // And what follows the pixels is not looked at
        drawing.codes = [0x84, 0xFB, 0xFF]
        XCTAssertEqual(try decoded(drawing.file).rgba, rgba)
    }

    func testThatCodesWithoutPixelsEndWithTheDeadline() throws {
        // Given nothing but codes that empty the table: 4 of 3 bits each
        var drawing = DrawnGIF(width: 3, height: 2, depth: 2)
        drawing.codes = [[UInt8]](repeating: [0x24, 0x49, 0x92], count: 10_000).flatMap(\.self)
        let clock = LookedAtClock()
        // Then
        XCTAssertThrowsError(try decoded(drawing.file, DecodeRequest(deadline: clock.deadline(after: 1)))) {
            XCTAssertEqual($0 as? CodecError, .timedOut)
        }
        XCTAssertEqual(clock.looks, 2)
        // A deadline is not damage that could be accepted.
        let passed = LookedAtClock().deadline(after: 0)
        XCTAssertThrowsError(
            try decoded(DrawnGIF(width: 400, height: 400).file, DecodeRequest(acceptsTruncated: true, deadline: passed))
        ) {
            XCTAssertEqual($0 as? CodecError, .timedOut)
        }
    }

    func testThatATruncatedFileIsReadAsFarAsItGoesIfThatIsAccepted() throws {
        // Given
        for drawing in [DrawnGIF(width: 60, height: 40), DrawnGIF(width: 60, height: 40, transparent: 2)] {
            let file = Array(drawing.file.prefix(drawing.file.count / 2))
            // When
            let sink = try decoded(file, DecodeRequest(acceptsTruncated: true))
            // Then
            assertFails(file, .truncated)
            XCTAssertTrue(sink.isComplete)
            XCTAssertEqual(sink.rgba?.prefix(60 * 4 * 10), drawing.rgba.prefix(60 * 4 * 10))
            XCTAssertEqual(sink.rgba?.suffix(4), drawing.transparent == nil ? [0, 0, 0, 255] : [0, 0, 0, 0])
        }
    }

    func testARowThatBreaksOffHasItsFirstPixels() throws {
        for isInterlaced in [false, true] {
            // Given
            let drawing = DrawnGIF(width: 601, height: 16, isInterlaced: isInterlaced, depth: 4)
            let (file, whole) = (drawing.file, drawing.rgba)
            for share in [0.5, 0.6, 0.7, 0.8] {
                let part = Array(file.prefix(Int(Double(file.count) * share)))
                // When
                let rgba = try XCTUnwrap(decoded(part, DecodeRequest(acceptsTruncated: true)).rgba)
                // Then pixels are those of the drawing up to one place in the order of the file, and black from there on
                let rows = isInterlaced ? [0, 8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15] : Array(0..<16)
                let order = rows.flatMap { y in (0..<601).map { (y * 601 + $0) * 4 } }
                let missing = order.firstIndex { rgba[$0..<($0 + 4)] != whole[$0..<($0 + 4)] } ?? order.count
                XCTAssertNotEqual(missing % 601, 0)
                XCTAssertTrue(order[missing...].allSatisfy { rgba[$0..<($0 + 4)] == [0, 0, 0, 255] })
            }
        }
    }

    func testThatATruncatedInterlacedFileHasTheRowsOfItsFirstPasses() throws {
        // Given
        let drawing = DrawnGIF(width: 60, height: 40, isInterlaced: true)
        // When it ends in the third of its four passes
        let file = Array(drawing.file.prefix(drawing.file.count * 2 / 3))
        let sink = try decoded(file, DecodeRequest(acceptsTruncated: true))
        // Then rows 0, 4, 8 and so on are there, and 39 is not
        for y in stride(from: 0, to: 40, by: 4) {
            XCTAssertEqual(sink.rgba?[(y * 240)..<(y * 240 + 240)], drawing.rgba[(y * 240)..<(y * 240 + 240)], "\(y)")
        }
        XCTAssertEqual(sink.rgba?.suffix(4), [0, 0, 0, 255])
    }

    func testThatTheSampleIsUnderstood() throws {
        XCTAssertEqual(GIFCodec.sampleConfiguration, "type: gif")
        let configuration = try ConfigurationDecoder().decode(GIFCodec.Configuration.self, from: .mapping([:]))
        XCTAssertEqual(GIFCodec(configuration, context: .forTesting()).format, .gif)
    }
}
