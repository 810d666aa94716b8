import CJPEG
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

/// Invalid files.
final class JPEGDamageTests: XCTestCase {
    private let codec = JPEGCodec()

    private func file(isProgressive: Bool = false) throws -> [UInt8] {
        try WrittenJPEG(CJPEG_YCBCR) { ($0.isProgressive, $0.subsampling) = (isProgressive, (2, 2)) }
            .file(try DrawnPoster(width: 160, height: 120).draw(planes: (2, 2)))
    }

    /// The error of decoding at full size. Shrinking, which may use the other reader, ends in an error of the same kind.
    private func error(_ bytes: [UInt8], _ request: DecodeRequest = DecodeRequest(acceptsPlanar: true)) -> CodecError? {
        var shrinking = request
        shrinking.target = DecodeRequest.Target(width: 20, height: 15, chroma: 2)
        let (full, small) = (outcome(bytes, request), outcome(bytes, shrinking))
        switch (full, small) {
        case (.damaged, .damaged): break
        default: XCTAssertEqual(full, small)
        }
        return full
    }

    private func outcome(_ bytes: [UInt8], _ request: DecodeRequest) -> CodecError? {
        do {
            _ = try codec.picture(bytes, request)
            return nil
        } catch {
            return error
        }
    }

    private func headerError(_ bytes: [UInt8]) -> CodecError? {
        do {
            _ = try codec.header(of: bytes.span)
            return nil
        } catch {
            return error
        }
    }

    func testThatAFileThatEndsEarlyIsTruncated() throws {
        for isProgressive in [false, true] {
            let whole = try file(isProgressive: isProgressive)
            for share in [0.3, 0.6, 0.9] {
                let part = Array(whole.prefix(Int(Double(whole.count) * share)))
                XCTAssertEqual(error(part), .truncated, "\(share), progressive: \(isProgressive)")
            }
        }
    }

    func testThatAFileThatEndsEarlyIsTakenAsFarAsItGoesWhereThatIsAccepted() throws {
        for isProgressive in [false, true] {
            let whole = try file(isProgressive: isProgressive)
            let part = Array(whole.prefix(whole.count / 2))
            let picture = try codec.picture(part, DecodeRequest(acceptsPlanar: true, acceptsTruncated: true))
            XCTAssertEqual(picture.layout.height, 120)
        }
    }

    func testFileThatIsCutOffAndClosedIsTakenWhereThatIsAccepted() throws {
        for isProgressive in [false, true] {
            let whole = try file(isProgressive: isProgressive)
            let closed = Array(whole.prefix(whole.count / 2)) + [0xFF, 0xD9]
            XCTAssertNotNil(error(closed), "progressive: \(isProgressive)")
            let picture = try codec.picture(closed, DecodeRequest(acceptsPlanar: true, acceptsTruncated: true))
            XCTAssertEqual(picture.layout.height, 120, "progressive: \(isProgressive)")
        }
    }

    func testThatOnlyAMissingEndMarkerIsNoHarm() throws {
        for isProgressive in [false, true] {
            XCTAssertNil(error(Array(try file(isProgressive: isProgressive).dropLast(2))), "progressive: \(isProgressive)")
        }
    }

    func testThatGarbageBehindTheLastScanIsNoHarm() throws {
        for isProgressive in [false, true] {
            let whole = try file(isProgressive: isProgressive)
            let (open, garbage) = (Array(whole.dropLast(2)), [UInt8](repeating: 7, count: 50))
            // Given bytes before the end marker, instead of it and after it
            let files = [open + garbage + [0xFF, 0xD9], open + garbage, whole + garbage]
            for bytes in files {
                // When, then
                XCTAssertNil(error(bytes), "progressive: \(isProgressive)")
            }
        }
    }

    func testWrongCoefficientsInTheHeaderOfASequentialScanAreNoHarm() throws {
        for change: (inout WrittenJPEG) -> Void in [
            { _ in }, { $0.isArithmetic = true }, { $0.isSeparate = true }, { $0.restartInterval = 2 },
        ] {
            var written = WrittenJPEG(CJPEG_YCBCR) { $0.subsampling = (2, 2) }
            change(&written)
            let whole = try written.file(try DrawnPoster(width: 160, height: 120).draw(planes: (2, 2)))
            for wrong: [UInt8] in [[0, 0, 0], [1, 5, 0x23], [63, 0, 0xFF], [255, 255, 1]] {
                // Given scans whose headers name other coefficients, as some telephones write them
                var bytes = whole
                for start in bytes.scans {
                    let end = start + 3 + Int(bytes[start + 2]) * 2
                    bytes.replaceSubrange(end..<end + 3, with: wrong)
                }
                XCTAssertNotEqual(bytes, whole)
                try assertEqualPictures(bytes, whole)
            }
        }
    }

    func testTheOrderAndNumberOfScansAreNoHarm() throws {
        // Given a progressive file: its scans are those of the first coefficients, then of others
        let whole = try file(isProgressive: true)
        let parts = whole.partsOfScans
        XCTAssertEqual(parts.count, 10)
        // When the second scan comes first, or twice, or the first one twice
        for order in [[1, 0, 2], [0, 1, 1, 2], [0, 0, 1, 2], [1, 2, 0]] {
            let bytes = parts[0].header + order.flatMap { parts[$0].scan } + parts[3...].flatMap(\.scan)
            // Then it is the same picture, and the library makes it small too
            try assertEqualPictures(bytes, whole, sizes: [nil])
            XCTAssertNil(error(bytes))
        }
        // And without the first, or a refinement that lacks the one before it, it is damaged
        for order in [[1, 2, 3, 4, 5, 7, 8, 9], [1, 0, 2, 3, 5, 6, 7, 8, 9]] {
            let error = try XCTUnwrap(error(parts[0].header + order.flatMap { parts[$0].scan }))
            guard case .damaged = error else { return XCTFail("\(error)") }
        }
    }

    private func fileWithRestarts() throws -> [UInt8] {
        try WrittenJPEG(CJPEG_YCBCR) { ($0.restartInterval, $0.subsampling) = (2, (2, 2)) }
            .file(try DrawnPoster(width: 160, height: 120).draw(planes: (2, 2)))
    }

    func testPaddingBeforeRestartMarkersIsNoHarm() throws {
        let whole = try fileWithRestarts()
        for padding in [[0], [0xFF, 0], [0xFF], [0, 0], [UInt8](repeating: 0, count: 30)] as [[UInt8]] {
            // Given
            var bytes = whole
            for restart in whole.restarts.reversed() { bytes.insert(contentsOf: padding, at: restart) }
            // When, then
            XCTAssertNil(error(bytes), "\(padding)")
            try assertEqualPictures(bytes, whole)
        }
        // And other bytes, which replace lost samples, are damage
        var bytes = whole
        bytes.insert(contentsOf: [UInt8](repeating: 7, count: 30), at: whole.restarts[5])
        let error = try XCTUnwrap(error(bytes))
        guard case .damaged = error else { return XCTFail("\(error)") }
    }

    func testRestartMarkersWithFarNumbersAreNoHarm() throws {
        let whole = try fileWithRestarts()
        for distance in 0..<8 {
            // Given other numbers
            var bytes = whole
            for restart in whole.restarts { bytes[restart + 1] = 0xD0 | (bytes[restart + 1] + UInt8(distance)) & 7 }
            // When, then those that are near mean that a segment is lost, or comes twice
            if [0, 3, 4, 5].contains(distance) {
                try assertEqualPictures(bytes, whole)
            } else {
                let error = try XCTUnwrap(error(bytes), "\(distance)")
                guard case .damaged = error else { return XCTFail("\(error)") }
            }
        }
    }

    func testPaddingBetweenTwoScansIsNoHarm() throws {
        for padding in [[0], [0, 0, 0], [0xFF, 0]] as [[UInt8]] {
            // Given
            let whole = try file(isProgressive: true)
            let parts = whole.partsOfScans
            let bytes = parts[0].header + parts.flatMap { padding + $0.scan }
            // When, then
            XCTAssertNil(error(bytes), "\(padding)")
            try assertEqualPictures(bytes, whole)
        }
    }

    /// By default at full size and small.
    private func assertEqualPictures(
        _ bytes: [UInt8], _ whole: [UInt8], sizes: [DecodeRequest.Target?] = [nil, .init(width: 20, height: 15, chroma: 2)]
    ) throws {
        for target in sizes {
            let request = DecodeRequest(target: target, acceptsPlanar: true)
            assertImagesSimilar(try codec.picture(bytes, request), try codec.picture(whole, request), within: 0)
        }
    }

    func testThatGarbageBetweenTwoScansIsDamage() throws {
        // Given
        var bytes = try file(isProgressive: true)
        let starts = bytes.indices.filter { $0 > 0 && bytes[$0 - 1] == 0xFF && bytes[$0] == 0xDA }
        // The tables of a scan come before it.
        let table = try XCTUnwrap((starts[1]..<starts[2]).first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC4 })
        bytes.insert(contentsOf: [UInt8](repeating: 7, count: 50), at: table)
        // When, then
        let error = try XCTUnwrap(error(bytes))
        guard case .damaged = error else { return XCTFail("\(error)") }
    }

    func testThatOfScansForEachComponentOnlyTheEndMarkerMayBeMissing() throws {
        // Given a scan for each component
        let whole = try WrittenJPEG(CJPEG_YCBCR) { $0.isSeparate = true }
            .file(try DrawnPoster(width: 64, height: 48).draw(planes: (1, 1)))
        let starts = whole.indices.filter { $0 > 0 && whole[$0 - 1] == 0xFF && whole[$0] == 0xDA }
        XCTAssertEqual(starts.count, 3)
        // When, then
        XCTAssertNil(error(whole))
        XCTAssertNil(error(Array(whole.dropLast(2))))
        XCTAssertEqual(error(Array(whole.prefix(starts[2] - 1))), .truncated)
    }

    func testThatAMissingScanIsTruncation() throws {
        // Given a progressive file that ends between two scans
        let whole = try file(isProgressive: true)
        let starts = whole.indices.filter { $0 > 0 && whole[$0 - 1] == 0xFF && whole[$0] == 0xDA }
        // When, then
        XCTAssertEqual(error(Array(whole.prefix(starts[3] - 1))), .truncated)
    }

    func testThatBytesLostInsideAScanAreDamage() throws {
        // Given a loss that is too long for the rest to have enough blocks, as it may have behind a short one
        var bytes = try file()
        bytes.removeSubrange(bytes.count / 4..<bytes.count * 3 / 4)
        // When, then
        let error = try XCTUnwrap(error(bytes))
        guard case .damaged = error else { return XCTFail("\(error)") }
    }

    func testThatMoreScansThanAllowedAreRefused() throws {
        let request = DecodeRequest(acceptsPlanar: true, limits: Limits(scans: 3))
        XCTAssertEqual(error(try file(isProgressive: true), request), .tooManyScans(limit: 3))
    }

    func testThatTooManyPixelsAreRefused() throws {
        XCTAssertEqual(
            error(try file(), DecodeRequest(limits: Limits(pixels: 100))), .tooManyPixels(width: 160, height: 120, limit: 100))
    }

    func testThatOtherProcessesAreRefusedByName() throws {
        let names: [UInt8: String] = [
            0xC3: "lossless JPEG (SOF3)", 0xC5: "differential sequential JPEG (SOF5)", 0xC7: "differential lossless JPEG (SOF7)",
            0xCB: "lossless arithmetic JPEG (SOF11)", 0xF7: "JPEG-LS (SOF55)",
        ]
        for (marker, name) in names {
            // Given
            var bytes = try file()
            bytes[try XCTUnwrap(bytes.frame)] = marker
            // When, then
            XCTAssertEqual(headerError(bytes), .unsupported(name))
        }
    }

    func testThatTwelveBitsAreRefusedByName() throws {
        var bytes = try file()
        bytes[try XCTUnwrap(bytes.frame) + 3] = 12
        XCTAssertEqual(headerError(bytes), .unsupported("JPEG with 12 bits per sample"))
    }

    func testThatABombIsRefusedFromItsHeader() throws {
        // Given a small file that announces 65,000 × 65,000 pixels
        var bytes = try file()
        let frame = try XCTUnwrap(bytes.frame)
        bytes.replaceSubrange(frame + 4..<frame + 8, with: [0xFD, 0xE8, 0xFD, 0xE8])
        // When, then
        XCTAssertEqual(error(bytes), .tooManyPixels(width: 65000, height: 65000, limit: 64_000_000))
    }

    func testThatStrayBytesBetweenSegmentsAreNoHarm() throws {
        // Given three bytes before the first table
        var bytes = try file()
        let table = try XCTUnwrap(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDB })
        bytes.insert(contentsOf: [1, 2, 3], at: table)
        // When, then
        XCTAssertNil(error(bytes))
    }

    func testThatAProfileWithAMissingPieceIsNoProfile() throws {
        // Given a file with one of two announced pieces of a profile
        let picture = try DrawnPoster(width: 16, height: 16).draw()
        let body = try codec.encode(picture, EncodeOptions(profile: DrawnProfile.displayP3))
        var bytes = Array(body.readableBytesView)
        let marker = try XCTUnwrap(bytes.indices.first { bytes[$0...].starts(with: Array("ICC_PROFILE\0".utf8)) })
        bytes[marker + 13] = 2
        // When, then
        XCTAssertEqual(try codec.header(of: bytes.span).colors, .sRGB)
    }

    func testThatNothingIsTruncated() {
        XCTAssertNotNil(headerError([]))
        XCTAssertNotNil(headerError([0xFF, 0xD8, 0xFF]))
    }
}

extension [UInt8] {
    /// The positions behind the markers of scans.
    fileprivate var scans: [Int] { indices.filter { $0 > 0 && self[$0 - 1] == 0xFF && self[$0] == 0xDA }.map { $0 + 1 } }

    /// The positions of the restart markers.
    fileprivate var restarts: [Int] {
        let first = scans.first ?? count
        return indices.filter { $0 > first && self[$0] == 0xFF && $0 + 1 < count && (0xD0...0xD7).contains(self[$0 + 1]) }
    }

    /// The bytes of each scan with the tables before it, and those before the first.
    fileprivate var partsOfScans: [(header: [UInt8], scan: [UInt8])] {
        let tables = indices.filter { $0 > 0 && self[$0 - 1] == 0xFF && self[$0] == 0xC4 }.map { $0 - 1 }
        let scans = scans
        let starts = scans.enumerated().map { number, scan in
            tables.first { (number == 0 || $0 > scans[number - 1]) && $0 < scan } ?? scan - 2
        }
        return zip(starts, starts.dropFirst() + [count]).map { (Array(self[..<starts[0]]), Array(self[$0..<$1])) }
    }
}
