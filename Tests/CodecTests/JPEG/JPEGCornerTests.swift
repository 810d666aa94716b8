import CJPEG
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import JPEGCodec

/// The reader for shrinking, which keeps only the lowest coefficients of each block, beside libjpeg-turbo.
final class JPEGCornerTests: XCTestCase {
    private func file(
        _ width: Int = 203, _ height: Int = 117, planes: (Int, Int) = (2, 2), _ change: (inout WrittenJPEG) -> Void = { _ in }
    ) throws -> [UInt8] {
        let picture = try DrawnPoster(width: width, height: height).draw(planes: planes)
        return try WrittenJPEG(CJPEG_YCBCR) {
            $0.subsampling = (Int32(planes.0), Int32(planes.1))
            change(&$0)
        }.file(picture)
    }

    /// The pairs of corners whose samples lie on one another.
    private func corners(_ planes: (Int, Int)) -> [(Int, Int)] {
        (1...8).flatMap { luma in
            (1...8).filter { planes.0 * luma % $0 == 0 && planes.1 * luma % $0 == 0 }.map { (luma, $0) }
        }
    }

    func testThatEveryCornerOfEverySubsamplingShowsThePicture() throws {
        for planes in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)] {
            for (width, height) in [(203, 117), (64, 64), (1, 1), (17, 1), (1, 33)] {
                // Given
                let file = try file(width, height, planes: planes)
                let progressive = try self.file(width, height, planes: planes) { $0.isProgressive = true }
                let full = try CornerReading(file)
                let expected = full.planes.map { plane in (1...8).map { CornerReading.shrunk(plane, to: $0) } }
                for (luma, chroma) in corners(planes) {
                    // When
                    let reading = try CornerReading(file, luma: luma, chroma: chroma)
                    // Then
                    XCTAssertEqual(reading.status, CJPEG_OK)
                    XCTAssertEqual(reading.eighths, luma)
                    // (the library writes the same coefficients in scans with successive approximation)
                    XCTAssertEqual(
                        try CornerReading(progressive, luma: luma, chroma: chroma).withoutVariances, reading.withoutVariances)
                    for (plane, corner) in [luma, chroma, chroma].enumerated() {
                        let (x, y) = plane == 0 ? (8, 8) : (8 * planes.0, 8 * planes.1)
                        XCTAssertEqual(reading.planes[plane].count, (height * corner + y - 1) / y)
                        XCTAssertEqual(reading.planes[plane].first?.count, (width * corner + x - 1) / x)
                        assertClose(
                            reading.planes[plane], expected[plane][corner - 1], isWhole: width % 32 == 0,
                            "\(planes), \(width) × \(height), plane \(plane), corner \(corner)")
                    }
                }
            }
        }
    }

    func testVariancesAreOfWhatTheCornerLeavesOut() throws {
        for isProgressive in [false, true] {
            // Given
            let file = try file(208, 120, planes: (2, 2)) { $0.isProgressive = isProgressive }
            let full = try CornerReading(file)
            func means(_ plane: [[Double]], _ side: Int, _ of: (Double) -> Double = { $0 }) -> [Double] {
                (0..<15 * 26).map { block in
                    let (y, x) = (block / 26 * side, block % 26 * side)
                    return (y..<y + side).reduce(0.0) { sum, row in sum + plane[row][x..<x + side].reduce(0) { $0 + of($1) } }
                        / Double(side * side)
                }
            }
            let all = means(full.planes[0].map { $0.map(Double.init) }, 8) { $0 * $0 }
            for corner in 1...8 {
                // When
                let reading = try CornerReading(file, luma: corner, chroma: corner)
                // Then
                guard corner < 8 else { return XCTAssertEqual(reading.variances, []) }
                XCTAssertEqual(reading.variances.map(\.count), [Int](repeating: 26 * corner, count: 15 * corner))
                let kept = means(CornerReading.shrunk(full.planes[0], to: corner), corner) { $0 * $0 }
                // (not where the full picture is cut off)
                let blocks = zip(means(reading.variances.map { $0.map(Double.init) }, corner), zip(all, kept)).filter {
                    !$1.1.isNaN
                }
                let (told, exact) = blocks.reduce((0.0, 0.0)) { ($0.0 + $1.0, $0.1 + $1.1.0 - $1.1.1) }
                XCTAssertGreaterThan(blocks.count, 100)
                // The weights are only near the quantisers, and samples and variances are whole numbers.
                XCTAssertEqual(told, exact, accuracy: 0.5 * exact + Double(blocks.count), "\(corner), \(isProgressive)")
            }
        }
    }

    func testAnEvenPictureHasNoVariance() throws {
        // Given
        let gray = try PixelBuffer(PixelLayout(width: 64, height: 64, model: .gray), limits: Limits())
        let file = try WrittenJPEG(CJPEG_GRAY) { _ in }.file(gray)
        // When, then
        XCTAssertEqual(
            try CornerReading(file, luma: 2, chroma: 2).variances,
            [[UInt16]](repeating: [UInt16](repeating: 0, count: 16), count: 16))
    }

    func testVarianceIsWhereTheDetailIs() throws {
        // Given
        for isProgressive in [false, true] {
            for (ground, point) in [(UInt8(10), UInt8(250)), (240, 0)] {
                var gray = try PixelBuffer(PixelLayout(width: 64, height: 64, model: .gray), limits: Limits())
                for y in 0..<64 {
                    gray.withMutableRow(y) { row in
                        for x in 0..<64 { row[x] = (x, y) == (33, 44) ? point : ground }
                    }
                }
                let file = try WrittenJPEG(CJPEG_GRAY) { ($0.quality, $0.isProgressive) = (90, isProgressive) }.file(gray)
                for corner in 2...6 {
                    // When
                    let variances = try CornerReading(file, luma: corner, chroma: corner).variances
                    // Then
                    let name = "\(ground), \(corner), progressive: \(isProgressive)"
                    let largest = variances.joined().max() ?? 0
                    let row = try XCTUnwrap(variances.firstIndex { $0.contains(largest) })
                    let column = try XCTUnwrap(variances[row].firstIndex(of: largest))
                    // The point may lie between two samples.
                    XCTAssertEqual(Double(row) + 0.5, 44.5 * Double(corner) / 8, accuracy: 1, name)
                    XCTAssertEqual(Double(column) + 0.5, 33.5 * Double(corner) / 8, accuracy: 1, name)
                    let others = variances.indices.filter { $0 / corner != 5 }
                    XCTAssertTrue(others.allSatisfy { variances[$0].allSatisfy { $0 == 0 } }, name)
                    let block = (5 * corner..<6 * corner).flatMap { variances[$0][4 * corner..<5 * corner] }
                    XCTAssertLessThan(block.reduce(0) { $0 + Int($1) } / block.count, Int(largest) * 2 / 3, name)
                }
            }
        }
    }

    /// - Parameter isWhole: the last blocks lie inside of the picture. Beyond it a file holds anything.
    private func assertClose(_ plane: [[UInt8]], _ expected: [[Double]], isWhole: Bool, _ message: String) {
        for (y, row) in plane.enumerated() where isWhole || y + 8 < plane.count {
            for (x, sample) in row.enumerated() where isWhole || x + 8 < row.count {
                // The full picture is rounded to whole levels.
                guard abs(Double(sample) - expected[y][x]) > 2 else { continue }
                return XCTFail("\(message): \(sample) for \(expected[y][x]) at \(x), \(y)")
            }
        }
    }

    func testThatGrayIsRead() throws {
        // Given
        let file = try WrittenJPEG(CJPEG_GRAY).file(try DrawnPoster(width: 96, height: 64).draw(.gray))
        let full = try CornerReading(file)
        for corner in 1...8 {
            // When
            let reading = try CornerReading(file, luma: corner, chroma: corner)
            // Then
            assertClose(
                reading.planes[0], CornerReading.shrunk(full.planes[0], to: corner), isWhole: true, "corner \(corner)")
        }
    }

    func testThatRestartMarkersChangeNothing() throws {
        for planes in [(1, 1), (2, 2)] {
            let plain = try CornerReading(try file(planes: planes), luma: 4, chroma: 2)
            for interval in [1, 2, 7, 100, 10_000] {
                for isProgressive in [false, true] {
                    let file = try file(planes: planes) {
                        ($0.restartInterval, $0.isProgressive) = (Int32(interval), isProgressive)
                    }
                    let reading = try CornerReading(file, luma: 4, chroma: 2)
                    XCTAssertEqual(
                        reading.withoutVariances, plain.withoutVariances, "\(interval), progressive: \(isProgressive)")
                    if !isProgressive { XCTAssertEqual(reading.variances, plain.variances, "\(interval)") }
                }
            }
        }
    }

    func testThatEveryInstructionSetGivesTheSameBytes() throws {
        for (width, height, quality) in [(203, 117, 95), (500, 400, 100), (500, 400, 20)] {
            for isProgressive in [false, true] {
                let file = try file(width, height) { ($0.quality, $0.isProgressive) = (Int32(quality), isProgressive) }
                for (luma, chroma) in corners((2, 2)) {
                    let best = try CornerReading(file, luma: luma, chroma: chroma)
                    let portable = try CornerReading(file, luma: luma, chroma: chroma, isPortable: true)
                    XCTAssertEqual(best, portable, "corners \(luma) and \(chroma), progressive: \(isProgressive)")
                }
            }
        }
    }

    func testThatAFileCutAnywhereEndsAsWithTheLibrary() throws {
        for (interval, isProgressive) in [(0, false), (5, false), (0, true), (5, true)] {
            let whole = try file { ($0.restartInterval, $0.isProgressive) = (Int32(interval), isProgressive) }
            for end in stride(from: 2, to: whole.count, by: 97) {
                let part = Array(whole[..<end])
                XCTAssertEqual(try CornerReading(part, luma: 3, chroma: 2).status, try CornerReading(part).status, "\(end) bytes")
            }
        }
    }

    func testThatDamageEndsAsWithTheLibrary() throws {
        // (without restart markers: whether the library sees bytes before one that no block used depends on its buffers)
        try assertDamageEndsAsWithTheLibrary(try file(90, 60))
        try assertDamageEndsAsWithTheLibrary(try file(90, 60) { $0.isProgressive = true })
    }

    /// Changes bytes, one at a time, from the first scan on.
    private func assertDamageEndsAsWithTheLibrary(_ whole: [UInt8]) throws {
        let scan = try XCTUnwrap(whole.indices.first { $0 > 0 && whole[$0 - 1] == 0xFF && whole[$0] == 0xDA })
        for place in stride(from: scan + 14, to: whole.count - 2, by: 7) {
            for value in [0xFF, 0, whole[place] ^ 0x10] {
                var damaged = whole
                damaged[place] = value
                // When
                let library = try CornerReading(damaged)
                for corner in [3, 8] {
                    // Then
                    let reading = try CornerReading(damaged, luma: corner, chroma: corner)
                    XCTAssertEqual(reading.status, library.status, "byte \(place) = \(value), corner \(corner)")
                }
            }
        }
    }

    func testThatOnlyACommonKindOfFileIsTaken() throws {
        let picture = try DrawnPoster(width: 40, height: 40).draw(planes: (1, 1))
        let files = [
            try WrittenJPEG(CJPEG_YCBCR) { $0.isArithmetic = true }.file(picture),
            try WrittenJPEG(CJPEG_YCBCR) { $0.isSeparate = true }.file(picture),
            try WrittenJPEG(CJPEG_RGB) { $0.isUntransformed = true }.file(try DrawnPoster(width: 40, height: 40).draw()),
            try WrittenJPEG(CJPEG_CMYK).file(try DrawnPoster(width: 40, height: 40).draw(.cmyk)),
        ]
        for file in files {
            let reading = try CornerReading(file, luma: 2, chroma: 2)
            XCTAssertEqual([Int(reading.status.rawValue), reading.eighths], [0, 8])
        }
        // Corners whose samples do not lie on one another, and none
        for (luma, chroma) in [(4, 3), (5, 4), (8, 9), (9, 3), (0, 1)] {
            let reading = try CornerReading(try self.file(), luma: luma, chroma: chroma)
            XCTAssertEqual(reading, try CornerReading(try self.file()), "corners \(luma) and \(chroma)")
        }
    }

    func testThatABlockOfManyRefinedCoefficientsIsRead() throws {
        // Given noise at full quality, in which every coefficient is refined
        var random = SplitMix(seed: 7)
        var picture = try PixelBuffer(PixelLayout(width: 64, height: 64, planarWithSubsampling: 1, 1), limits: Limits())
        for y in 0..<64 {
            for plane in 0..<3 {
                picture.withMutableRow(y, plane: plane) { row in
                    for x in 0..<row.count { row[x] = UInt8.random(in: 0...255, using: &random) }
                }
            }
        }
        // When
        let file = try WrittenJPEG(CJPEG_YCBCR) { $0.quality = 100 }.file(picture)
        let progressive = try WrittenJPEG(CJPEG_YCBCR) { ($0.quality, $0.isProgressive) = (100, true) }.file(picture)
        for corner in [4, 8] {
            let reading = try CornerReading(progressive, luma: corner, chroma: corner)
            // Then
            XCTAssertEqual(
                reading.withoutVariances, try CornerReading(file, luma: corner, chroma: corner).withoutVariances)
            XCTAssertEqual(reading.eighths, corner)
        }
    }

    func testThatBytesBeforeARestartMarkerAreDamage() throws {
        // Given bytes that no block uses
        var bytes = try file { $0.restartInterval = 3 }
        let marker = try XCTUnwrap(bytes.indices.first { $0 > 0 && bytes[$0 - 1] == 0xFF && bytes[$0] == 0xD0 })
        bytes.insert(contentsOf: [UInt8](repeating: 7, count: 20), at: marker - 1)
        // When, then
        XCTAssertEqual(try CornerReading(bytes, luma: 3, chroma: 2).status, CJPEG_DAMAGED)
    }

    func testThatProgressiveFilesMayNotHaveMoreScansThanAllowed() throws {
        let bytes = try file { $0.isProgressive = true }
        var request = DecodeRequest(target: .init(width: 40, height: 23, chroma: 2), acceptsPlanar: true)
        XCTAssertEqual(try JPEGCodec().picture(bytes, request).layout.width, 77)
        request.limits.scans = 9
        XCTAssertThrowsError(try JPEGCodec().picture(bytes, request).layout) {
            XCTAssertEqual($0 as? CodecError, .tooManyScans(limit: 9))
        }
    }

    func testThatTheSmallestSufficientCornersAreChosen() throws {
        func chosen(_ width: Int, _ height: Int, to target: Double, chroma: Int = 2, _ subsampling: (Int32, Int32) = (2, 2))
            -> [Int]
        {
            var header = cjpeg_header()
            (header.width, header.height, header.colors, header.fits_corner) = (Int32(width), Int32(height), CJPEG_YCBCR, true)
            (header.subsampling_x, header.subsampling_y) = subsampling
            let target = DecodeRequest.Target(width: target, height: target * Double(height) / Double(width), chroma: chroma)
            return JPEGReader.corners(of: header, for: DecodeRequest(target: target)).map { [Int($0.luma), Int($0.chroma)] } ?? []
        }
        XCTAssertEqual(chosen(2000, 3000, to: 342), [3, 2])
        XCTAssertEqual(chosen(2000, 3000, to: 500), [4, 4])
        XCTAssertEqual(chosen(2000, 3000, to: 460), [3, 3])
        XCTAssertEqual(chosen(1000, 1500, to: 250), [4, 4])
        XCTAssertEqual(chosen(1000, 1500, to: 185), [3, 3])
        XCTAssertEqual(chosen(1000, 1500, to: 342), [4, 4])
        XCTAssertEqual(chosen(2000, 3000, to: 92), [1, 1])
        XCTAssertEqual(chosen(2000, 3000, to: 185), [2, 2])
        XCTAssertEqual(chosen(2000, 3000, to: 342, (1, 1)), [3, 1])
        // Full colour of subsampled chroma
        XCTAssertEqual(chosen(2000, 3000, to: 342, chroma: 1), [4, 4])
        // More than half of the original's side
        XCTAssertEqual(chosen(2000, 3000, to: 780), [5, 5])
        XCTAssertEqual(chosen(1000, 1500, to: 500), [6, 6])
        XCTAssertEqual(chosen(1000, 1500, to: 600), [7, 7])
        XCTAssertEqual(chosen(1000, 1500, to: 780), [8, 8])
        XCTAssertEqual(chosen(2000, 3000, to: 780, (1, 1)), [5, 5])
        XCTAssertEqual(chosen(2000, 3000, to: 780, chroma: 1), [8, 8])
        // Larger than the original
        XCTAssertEqual(chosen(1000, 1500, to: 1500), [8, 8])
    }

    func testThatTheCodecShrinksForATarget() throws {
        // Given
        let bytes = try file(203, 117)
        let request = DecodeRequest(
            minimumWidth: 102, minimumHeight: 59, target: .init(width: 47.5, height: 27.3, chroma: 2), acceptsPlanar: true)
        // When
        let picture = try JPEGCodec().picture(bytes, request)
        // Then
        XCTAssertEqual([picture.layout.width, picture.layout.height], [77, 44])
        XCTAssertEqual(picture.layout.exactWidth, 203 * 3 / 8)
        XCTAssertEqual(picture.layout.exactHeight, 117 * 3.0 / 8)
        XCTAssertEqual(picture.layout.planes[1].width, (77 + picture.layout.subsampling.x - 1) / picture.layout.subsampling.x)
    }

    func testThatTruncatedFilesAreTakenAsFarAsTheyGoWhereThatIsAccepted() throws {
        let whole = try file(203, 117)
        let request = DecodeRequest(
            minimumWidth: 102, minimumHeight: 59, target: .init(width: 47.5, height: 27.3, chroma: 2), acceptsPlanar: true,
            acceptsTruncated: true)
        XCTAssertEqual(try JPEGCodec().picture(Array(whole.prefix(whole.count / 2)), request).layout.width, 102)
        XCTAssertEqual(try JPEGCodec().picture(whole, request).layout.width, 77)
    }

    func testThatReadingEndsWhenTimeIsUp() throws {
        try assertReadingEndsWhenTimeIsUp(try file(160, 240), looks: 15)
        try assertReadingEndsWhenTimeIsUp(try file(160, 240) { $0.isProgressive = true }, looks: 10 * 15)
    }

    /// - Parameter looks: the rows of blocks.
    private func assertReadingEndsWhenTimeIsUp(_ bytes: [UInt8], looks least: Int) throws {
        // Given a clock that passes the deadline after a number of reads
        func request(_ deadline: Deadline) -> DecodeRequest {
            DecodeRequest(target: .init(width: 30, height: 45, chroma: 2), acceptsPlanar: true, deadline: deadline)
        }
        let all = LookedAtClock()
        _ = try JPEGCodec().picture(bytes, request(all.deadline(after: .max)))
        // Then it is read for each row of blocks
        XCTAssertGreaterThanOrEqual(all.looks, least)
        for looks in [0, all.looks / 2, all.looks - 1] {
            // When, then
            XCTAssertThrowsError(try JPEGCodec().picture(bytes, request(LookedAtClock().deadline(after: looks))).layout) {
                XCTAssertEqual($0 as? CodecError, .timedOut, "after \(looks) looks")
            }
        }
    }
}
