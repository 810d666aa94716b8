import CJPEG
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import JPEGCodec

/// Several sizes of one file in one pass, beside each of them alone.
final class JPEGSeveralTests: XCTestCase {
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
    private func corners(_ planes: (Int, Int)) -> [(luma: Int, chroma: Int)] {
        (1...8).flatMap { luma in
            (1...8).filter { planes.0 * luma % $0 == 0 && planes.1 * luma % $0 == 0 }.map { (luma, $0) }
        }
    }

    private func assertSameAsAlone(_ file: [UInt8], _ corners: [(luma: Int, chroma: Int)], _ message: String) throws {
        // Given
        let alone = try corners.map { try CornerReading(file, luma: $0.luma, chroma: $0.chroma) }
        for isPortable in [false, true] {
            // When
            let together = try CornerReading.several(file, corners, isPortable: isPortable)
            // Then
            for index in corners.indices where together[index] != alone[index] {
                XCTFail("corners \(corners[index]) of \(message), portable: \(isPortable)")
            }
        }
    }

    func testThatAllCornersInOnePassAreAsAlone() throws {
        for planes in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)] {
            for (width, height) in [(203, 117), (64, 64), (1, 1), (17, 1), (1, 33)] {
                for (isProgressive, interval) in [(false, 0), (false, 5), (true, 0), (true, 5)] {
                    let file = try file(width, height, planes: planes) {
                        ($0.isProgressive, $0.restartInterval) = (isProgressive, Int32(interval))
                    }
                    let message = "\(width) × \(height), \(planes), progressive: \(isProgressive), interval \(interval)"
                    try assertSameAsAlone(file, corners(planes), message)
                }
            }
        }
    }

    func testThatTheOrderAndTheNumberOfCornersAreNoMatter() throws {
        for isProgressive in [false, true] {
            let file = try file { $0.isProgressive = isProgressive }
            for corners in [
                [(3, 2), (1, 1)], [(1, 1), (4, 4), (3, 2)], [(2, 2), (2, 1), (4, 2), (2, 2)], [(4, 1), (3, 1), (2, 1), (1, 1)],
                [(5, 5), (1, 1), (2, 2), (3, 3), (4, 4)], [(8, 8), (6, 4)], [(7, 7), (8, 2), (5, 2)],
            ] {
                try assertSameAsAlone(file, corners, "\(corners), progressive: \(isProgressive)")
            }
        }
    }

    func testThatGrayIsReadAsAlone() throws {
        for isProgressive in [false, true] {
            let file = try WrittenJPEG(CJPEG_GRAY) { $0.isProgressive = isProgressive }
                .file(try DrawnPoster(width: 97, height: 63).draw(.gray))
            try assertSameAsAlone(file, (1...8).map { ($0, $0) }, "gray, progressive: \(isProgressive)")
        }
    }

    func testThatDamageAndTruncationEndAsAlone() throws {
        for isProgressive in [false, true] {
            let whole = try file(90, 60) { $0.isProgressive = isProgressive }
            let scan = try XCTUnwrap(whole.indices.first { $0 > 0 && whole[$0 - 1] == 0xFF && whole[$0] == 0xDA })
            for place in stride(from: scan + 14, to: whole.count - 2, by: 41) {
                var damaged = whole
                damaged[place] ^= 0x10
                try assertSameAsAlone(damaged, [(8, 8), (5, 5), (2, 2), (1, 1)], "byte \(place), progressive: \(isProgressive)")
                try assertSameAsAlone(
                    Array(whole[..<place]), [(3, 2), (4, 4)], "\(place) bytes, progressive: \(isProgressive)")
            }
        }
    }

    func testThatPairsOfWhichOneDoesNotFitAreLeftToTheLibrary() throws {
        // Given corners whose samples do not lie on one another
        let readings = try CornerReading.several(try file(), [(2, 2), (4, 3)])
        // Then
        XCTAssertEqual(readings.map(\.eighths), [8, 8])
    }

    /// Requests for a ladder, for corners of every size.
    private func ladder(acceptsTruncated: Bool = false) -> [DecodeRequest] {
        [20, 180, 51, 100, 12, 101, 51, 70].map { (width: Int) in
            let height = Double(width) * 117 / 203
            return DecodeRequest(
                minimumWidth: 2 * width, minimumHeight: Int(2 * height),
                target: .init(width: Double(width), height: height, chroma: 2),
                acceptsPlanar: true, acceptsTruncated: acceptsTruncated)
        }
    }

    private func decode(_ file: [UInt8], _ requests: [DecodeRequest]) throws(CodecError) -> [RowCollector] {
        var sinks = requests.map { _ in RowCollector() }
        try JPEGCodec().decode(file.span, requests, into: &sinks)
        return sinks
    }

    private func decode(_ file: [UInt8], _ request: DecodeRequest) throws(CodecError) -> RowCollector {
        var sink = RowCollector()
        try JPEGCodec().decode(file.span, request, into: &sink)
        return sink
    }

    private func assertLadderAsAlone(_ file: [UInt8], _ requests: [DecodeRequest], _ message: String) throws {
        let together = try decode(file, requests)
        for (request, sink) in zip(requests, together) {
            let alone = try decode(file, request)
            XCTAssertTrue(sink.isComplete && sink.breaches.isEmpty, message)
            XCTAssertEqual(sink.layout, alone.layout, message)
            XCTAssertTrue(sink.planes == alone.planes, "at least \(request.minimumWidth) pixels of \(message)")
        }
    }

    func testThatEachRequestOfALadderGetsTheRowsThatItGetsAlone() throws {
        for isProgressive in [false, true] {
            let file = try file { $0.isProgressive = isProgressive }
            try assertLadderAsAlone(file, ladder(), "progressive: \(isProgressive)")
            try assertLadderAsAlone(file, ladder().reversed(), "reversed, progressive: \(isProgressive)")
            try assertLadderAsAlone(
                Array(file.prefix(file.count * 2 / 3)), ladder(acceptsTruncated: true), "a part, progressive: \(isProgressive)")
        }
        let gray = try WrittenJPEG(CJPEG_GRAY).file(try DrawnPoster(width: 203, height: 117).draw(.gray))
        try assertLadderAsAlone(gray, ladder(), "gray")
        let other = try WrittenJPEG(CJPEG_RGB) { $0.isUntransformed = true }.file(try DrawnPoster(width: 203, height: 117).draw())
        try assertLadderAsAlone(other, ladder(), "a file for the library")
    }

    func testThatRequestsWithOtherWishesAreServedApart() throws {
        var requests = ladder()
        requests[0].acceptsPlanar = false
        try assertLadderAsAlone(try file(), requests, "planar and packed")
    }

    func testThatAnErrorOfALadderIsOneOfThoseAlone() throws {
        for isProgressive in [false, true] {
            let whole = try file { $0.isProgressive = isProgressive }
            for bytes in [Array(whole.prefix(whole.count / 2)), Array(whole.prefix(300))] {
                var alone: [CodecError] = []
                for request in ladder() {
                    do throws(CodecError) { _ = try decode(bytes, request) } catch { alone.append(error) }
                }
                XCTAssertEqual(alone.count, ladder().count)
                XCTAssertThrowsError(try decode(bytes, ladder())) { error in
                    XCTAssertTrue(alone.contains { $0 == error as? CodecError }, "\(error) is not one of \(alone)")
                }
            }
        }
        XCTAssertThrowsError(try decode(try file(), ladder().map { withPixels(of: $0) })) {
            XCTAssertEqual($0 as? CodecError, .tooManyPixels(width: 203, height: 117, limit: 100))
        }
    }

    private func withPixels(of request: DecodeRequest) -> DecodeRequest {
        var request = request
        request.limits.pixels = 100
        return request
    }
}
