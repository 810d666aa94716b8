import CJPEG
import JPEGCodec
import OnesheetCore
import OnesheetTesting
import XCTest

/// Every kind of JPEG, decoded again.
final class JPEGKindsTests: XCTestCase {
    private let codec = JPEGCodec()
    private let poster = DrawnPoster(width: 75, height: 53, grain: 2)

    private func header(_ bytes: [UInt8]) throws -> ImageHeader { try codec.header(of: bytes.span) }

    func testThatGrayStaysGray() throws {
        let picture = try poster.draw(.gray)
        let file = try WrittenJPEG(CJPEG_GRAY).file(picture)
        XCTAssertEqual(try header(file).model, .gray)
        assertImagesSimilar(try codec.picture(file), picture, within: 3)
    }

    func testThatPlanesComeAsTheyAreStoredInEverySubsampling() throws {
        for (x, y) in [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)] {
            for (width, height) in [(75, 53), (64, 64), (1, 1), (17, 1), (1, 33)] {
                // Given
                let picture = try DrawnPoster(width: width, height: height, grain: 2).draw(planes: (x, y))
                let file = try WrittenJPEG(CJPEG_YCBCR) { $0.subsampling = (Int32(x), Int32(y)) }.file(picture)
                // When
                let outcome = try codec.picture(file, DecodeRequest(acceptsPlanar: true))
                // Then
                assertImagesSimilar(outcome, picture, within: 4, message: "\(x), \(y), \(width) × \(height)")
            }
        }
    }

    func testThatPlanesBecomeRGBWhereTheyAreNotWelcome() throws {
        let file = try WrittenJPEG(CJPEG_YCBCR).file(try poster.draw(planes: (1, 1)))
        assertImagesSimilar(try codec.picture(file), try poster.draw(), within: 4)
    }

    func testThatProgressiveFilesAreRead() throws {
        let picture = try poster.draw(planes: (2, 2))
        let file = try WrittenJPEG(CJPEG_YCBCR) { ($0.isProgressive, $0.subsampling) = (true, (2, 2)) }.file(picture)
        XCTAssertTrue(try header(file).isProgressive)
        assertImagesSimilar(try codec.picture(file, DecodeRequest(acceptsPlanar: true)), picture, within: 4)
    }

    func testThatArithmeticCodingIsRead() throws {
        for isProgressive in [false, true] {
            let picture = try poster.draw(planes: (1, 1))
            let file = try WrittenJPEG(CJPEG_YCBCR) { ($0.isArithmetic, $0.isProgressive) = (true, isProgressive) }.file(picture)
            assertImagesSimilar(try codec.picture(file, DecodeRequest(acceptsPlanar: true)), picture, within: 4)
        }
    }

    func testThatRestartMarkersAreRead() throws {
        let picture = try poster.draw(planes: (2, 2))
        let file = try WrittenJPEG(CJPEG_YCBCR) { ($0.restartInterval, $0.subsampling) = (2, (2, 2)) }.file(picture)
        assertImagesSimilar(try codec.picture(file, DecodeRequest(acceptsPlanar: true)), picture, within: 4)
    }

    func testThatRGBIsReadAsItIsStored() throws {
        let picture = try poster.draw()
        let file = try WrittenJPEG(CJPEG_RGB) { $0.isUntransformed = true }.file(picture)
        XCTAssertEqual(try header(file).model, .rgb)
        assertImagesSimilar(try codec.picture(file, DecodeRequest(acceptsPlanar: true)), picture, within: 3)
    }

    func testThatInksWithAnAdobeMarkerAreNotInverted() throws {
        for colors in [CJPEG_CMYK, CJPEG_YCCK] {
            let picture = try poster.draw(.cmyk)
            let file = try WrittenJPEG(colors).file(picture)
            XCTAssertEqual(try header(file).model, .cmyk)
            assertImagesSimilar(try codec.picture(file), picture, within: 5)
        }
    }

    func testInksWithoutAdobesMarkerAreInvertedToo() throws {
        // Given a file that stores 255 minus ink, with and without the marker
        let file = try WrittenJPEG(CJPEG_CMYK).file(try poster.draw(.cmyk))
        var plain = file
        plain[try XCTUnwrap(file.indices.first { file[$0...].starts(with: Array("Adobe".utf8)) })] = UInt8(ascii: "X")
        // When there is a profile, of inks or of other colours, or none
        for bytes in [
            plain, Self.with(profile: "CMYK", plain), Self.with(profile: "RGB ", plain), Self.with(profile: "CMYK", file),
        ] {
            // Then it is the picture that others show
            assertImagesSimilar(try codec.picture(bytes), try poster.draw(.cmyk), within: 5)
        }
    }

    func testOfTwoProfilesTheFirstCounts() throws {
        // Given profiles of one piece each
        let plain = try WrittenJPEG(CJPEG_YCBCR).file(try poster.draw(planes: (1, 1)))
        let first = try header(Self.with(profile: "RGB ", plain)).colors
        XCTAssertNotEqual(first, .sRGB)
        for second in ["RGB ", "GRAY"] {
            // When, then
            let bytes = Self.with(profile: "RGB ", Self.with(profile: second, plain))
            XCTAssertEqual(try header(bytes).colors, first)
        }
    }

    /// The file with a profile that has nothing but the name of its colour space.
    private static func with(profile space: String, _ file: [UInt8]) -> [UInt8] {
        let profile = [UInt8](repeating: 0, count: 16) + Array(space.utf8) + [UInt8](repeating: 0, count: 108)
        let data = Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
        let segment: [UInt8] = [0xFF, 0xE2, 0, UInt8(data.count + 2)] + data
        return Array(file[..<2]) + segment + Array(file[2...])
    }

    func testThatEveryScaleIsDeliveredAndCoversTheWholePicture() throws {
        // Given
        let poster = DrawnPoster(width: 203, height: 117, grain: 0)
        let file = try poster.file(codec, planes: (2, 2))
        for (eighths, width, height) in [(1, 26, 15), (2, 51, 30), (4, 102, 59), (8, 203, 117)] {
            // When
            let outcome = try codec.picture(
                file, DecodeRequest(minimumWidth: width, minimumHeight: height, acceptsPlanar: true))
            // Then
            XCTAssertEqual([outcome.layout.width, outcome.layout.height], [width, height])
            XCTAssertEqual(outcome.layout.exactWidth, Double(203 * eighths) / 8)
            XCTAssertEqual(outcome.layout.exactHeight, Double(117 * eighths) / 8)
        }
    }

    func testThatOtherScalesAreNotUsed() throws {
        // Given a width just above a half, for which 5/8 would suffice
        let file = try poster.file(codec)
        // When
        let outcome = try codec.picture(file, DecodeRequest(minimumWidth: 39, minimumHeight: 1))
        // Then
        XCTAssertEqual(outcome.layout.width, 75)
    }
}
