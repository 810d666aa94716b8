import CPNG
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

/// Streams of every kind of block, read through the window.
final class PNGCodecStreamTests: XCTestCase {
    /// The rows of a file that are read without libpng, and whether that is all.
    private func fastRows(_ file: [UInt8]) throws -> (count: Int, all: Bool) {
        try file.withUnsafeBufferPointer { bytes in
            let reader = try XCTUnwrap(cpng_reader_make(bytes.baseAddress, bytes.count, false))
            defer { cpng_reader_free(reader) }
            var header = cpng_header()
            guard cpng_reader_header(reader, &header) == CPNG_OK, cpng_reader_start_fast(reader) == CPNG_OK else {
                return (0, false)
            }
            let height = Int(header.height)
            var row: UnsafePointer<UInt8>?
            let damaged = (0..<height).first { _ in cpng_reader_next_row(reader, cpng_watch(), &row) != CPNG_OK }
            return (damaged ?? height, damaged == nil)
        }
    }

    /// Compares what both ways make of a file. Where damage is accepted, the fast way may show more rows than libpng, and none otherwise.
    private func compare(_ file: [UInt8], width: Int, _ message: String, line: UInt = #line) {
        func outcomes(acceptsTruncated: Bool) -> [Result<[UInt8]?, CodecError>] {
            [PNGCodec(), PNGCodec(onlyLibpng: true)].map { codec in
                Result { () throws(CodecError) in
                    try codec.decoded(file, DecodeRequest(acceptsTruncated: acceptsTruncated)).rgba
                }
            }
        }
        let whole = outcomes(acceptsTruncated: false), lenient = outcomes(acceptsTruncated: true)
        XCTAssertEqual(whole[0], whole[1], message, line: line)
        guard case .success(let fast?) = lenient[0], case .success(let reference?) = lenient[1] else {
            return XCTAssertEqual(lenient[0], lenient[1], message, line: line)
        }
        XCTAssertEqual(fast.count, reference.count, message, line: line)
        let nothing = (0..<width).flatMap { _ -> [UInt8] in [0, 0, 0, 255] }
        for start in stride(from: 0, to: min(fast.count, reference.count), by: width * 4) {
            let row = reference[start..<(start + width * 4)]
            if row != fast[start..<(start + width * 4)] { XCTAssertEqual(Array(row), nothing, message, line: line) }
        }
    }

    func testThatIntactFilesOfEveryKindAreReadWithoutLibpng() throws {
        for drawn in DrawnPNG.everyKind {
            for level: Int32 in [0, 1, 6] {
                for split in [1, 3, 100, Int.max] {
                    // Given
                    var drawn = drawn
                    drawn.split = split
                    let file = drawn.file(of: try DrawnPNG.deflated(drawn.scanlines, level: level))

                    // When, then
                    let message = "\(drawn.name), level \(level), \(split) bytes per IDAT"
                    XCTAssertTrue(try fastRows(file).all, message)
                    XCTAssertEqual(try PNGCodec().decoded(file).rgba, drawn.rgba, message)
                }
            }
        }
    }

    func testThatPicturesMayBeLargerThanTheWindow() throws {
        // Given many rows of less than a window, and few of more
        for (width, height) in [(200, 150), (12_000, 2)] {
            let drawn = DrawnPNG(kind: .rgb, depth: 16, width: width, height: height, filters: [0, 4, 2, 3, 1], split: 8192)
            for level: Int32 in [0, 6] {
                // When
                let file = drawn.file(of: try DrawnPNG.deflated(drawn.scanlines, level: level))

                // Then
                XCTAssertTrue(try fastRows(file).all)
                XCTAssertEqual(try PNGCodec().decoded(file).rgba, drawn.rgba, "\(width) × \(height), level \(level)")
            }
        }
    }

    func testThatDistancesReachBackOverTheWholeWindow() throws {
        // Given rows that repeat what lies nearly 32 KiB before them, and nothing nearer
        var state: UInt32 = 1
        let noise = (0..<32_700).map { _ -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
        let picture = DrawnPNG(kind: .gray, depth: 8, width: 32_699, height: 5)
        let row = [0] + noise.dropFirst()
        let rows = (0..<5).flatMap { _ in row }
        let stream = try DrawnPNG.deflated(rows, level: 9)
        XCTAssertLessThan(stream.count, 2 * row.count)

        // When
        let file = picture.file(of: stream)

        // Then
        XCTAssertTrue(try fastRows(file).all)
        compare(file, width: 32_699, "distances")
    }

    func testThatBothWaysAgreeOnEveryDamageOfAStream() throws {
        // Given streams with fixed and other codes, with damage that no checksum of a chunk shows
        for (width, height, level) in [(5, 4, 1), (40, 12, 6)] as [(Int, Int, Int32)] {
            let drawn = DrawnPNG(kind: .rgb, depth: 8, width: width, height: height, filters: [1, 4], split: 90)
            let stream = try DrawnPNG.deflated(drawn.scanlines, level: level)
            var counts: Set<Int> = []
            for place in stream.indices {
                for bit in [place % 8, (place + 3) % 8] {
                    var damaged = stream
                    damaged[place] ^= 1 << UInt8(bit)
                    // When
                    let file = drawn.file(of: damaged)
                    counts.insert(try fastRows(file).count)
                    // Then
                    compare(file, width: width, "bit \(bit) of byte \(place)")
                }
            }
            for count in stream.indices.dropFirst() {
                compare(drawn.file(of: Array(stream[..<count])), width: width, "\(count) bytes")
            }
            // Damage shows in every row, so that libpng takes over from each one.
            XCTAssertGreaterThan(counts.count, height / 2)
        }
    }

    func testDamageBehindARowCostsNoRowBefore() throws {
        // Given six rows in a stored block, and behind it one that does not exist
        let drawn = DrawnPNG(kind: .rgb, depth: 8)
        let rows = Array(drawn.scanlines.prefix(40 * 6))
        var stream = DrawnPNG.zlib(rows).dropLast(4)
        stream[2] = 0
        let file = drawn.file(of: stream + [7])

        // When, then
        XCTAssertEqual(try fastRows(file).count, 6)
        compare(file, width: 13, "a block of type 3")
        let rgba = try PNGCodec().decoded(file, DecodeRequest(acceptsTruncated: true)).rgba
        XCTAssertEqual(rgba?.prefix(13 * 4 * 6), drawn.rgba.prefix(13 * 4 * 6))
    }

    func testDistanceBeyondTheNamedWindowIsRead() throws {
        // Given rows that repeat what lies 20 KB before them, in a stream that names a window of 256 bytes
        let picture = DrawnPNG(kind: .gray, depth: 8, width: 20_000, height: 4, filters: [0])
        let noise = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5 ^ $0 >> 3) }
        var stream = try DrawnPNG.deflated((0..<4).flatMap { _ in [0] + noise }, level: 9)
        (stream[0], stream[1]) = (0x08, 0x1D)
        let file = picture.file(of: stream)

        // When, then
        XCTAssertTrue(try fastRows(file).all)
        for codec in [PNGCodec(), PNGCodec(onlyLibpng: true)] {
            XCTAssertEqual(try codec.decoded(file).rgba?.suffix(80_000), (noise.flatMap { [$0, $0, $0, 255] })[...])
        }
    }

    func testThatRowsBeforeTheDamageAreDeliveredOnce() throws {
        // Given a stream that ends in the middle, in a chunk that is intact
        let drawn = DrawnPNG(kind: .rgb, depth: 8, width: 40, height: 50)
        let file = drawn.file(of: Array(DrawnPNG.zlib(drawn.scanlines).dropLast(121 * 20 + 10)))
        XCTAssertGreaterThan(try fastRows(file).count, 10)
        var sink = RowCollector()

        // When
        XCTAssertThrowsError(try PNGCodec().decode(file.span, DecodeRequest(), into: &sink)) {
            // Then
            XCTAssertEqual($0 as? CodecError, .damaged(reason: "Not enough image data"))
        }
        XCTAssertEqual(sink.rows, [29])
    }
}
