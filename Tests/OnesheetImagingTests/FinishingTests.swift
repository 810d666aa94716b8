import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

/// Operations after resampling: filters, canvas, background, metadata.
final class FinishingTests: XCTestCase {
    private let codec = PNGCodec()
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    private func render(_ picture: borrowing PixelBuffer, _ change: (inout Transform) -> Void) throws -> PixelBuffer {
        var transform = Transform()
        change(&transform)
        let image = try renderer.render(try codec.encode(picture, EncodeOptions()), as: transform)
        return try codec.picture(Array(image.body.readableBytesView))
    }

    private func even(_ color: [UInt8], _ width: Int = 8, _ height: Int = 8) throws -> PixelBuffer {
        let layout = PixelLayout(width: width, height: height, model: .rgb, hasAlpha: color.count == 4)
        var picture = try PixelBuffer(layout, limits: Limits())
        for y in 0..<height {
            picture.withMutableRow(y) { row in for index in 0..<row.count { row[index] = color[index % color.count] } }
        }
        return picture
    }

    /// Red, green, blue and alpha.
    private func pixel(_ picture: borrowing PixelBuffer, _ x: Int, _ y: Int) -> [UInt8] {
        let channels = picture.layout.planes[0].channels
        let samples = picture.withRow(y) { row in (0..<channels).map { row[x * channels + $0] } }
        return switch channels {
        case 1: [samples[0], samples[0], samples[0], 255]
        case 2: [samples[0], samples[0], samples[0], samples[1]]
        case 3: samples + [255]
        default: samples
        }
    }

    func testThatSmallJPEGsOfLargeOriginalsHaveTablesOfTheirOwn() throws {
        // Given an original, and a codec that always makes tables
        let file = try codec.encode(try DrawnPoster(width: 720, height: 1080).draw(), EncodeOptions())
        var always = JPEGCodec.Configuration()
        always.optimize = true
        let other = Renderer(codecs: [JPEGCodec(always), PNGCodec()], limits: Limits())
        for (width, hasTables) in [(100, true), (120, false)] {
            var transform = Transform()
            (transform.width, transform.format) = (width, .jpeg)
            // When
            let (usual, smaller) = (try renderer.render(file, as: transform).body, try other.render(file, as: transform).body)
            // Then the one with a 51st of the pixels has them, and the one with a 36th does not
            XCTAssertEqual(usual == smaller, hasTables, "w\(width)")
            XCTAssertLessThanOrEqual(smaller.readableBytes, usual.readableBytes)
        }
    }

    func testThatPaddingIsClearWhereTheFormatCan() throws {
        let outcome = try render(try even([10, 20, 30])) { $0.padding = .init(top: 2, right: 0, bottom: 0, left: 1) }
        XCTAssertEqual([outcome.layout.width, outcome.layout.height], [9, 10])
        XCTAssertEqual(pixel(outcome, 0, 0), [0, 0, 0, 0])
        XCTAssertEqual(pixel(outcome, 1, 2), [10, 20, 30, 255])
    }

    func testThatBlackThatIsHalfTransparentIsBlackOrWhiteOnABackground() throws {
        for (alpha, expected) in [(UInt8(100), UInt8(255)), (200, 0)] {
            let outcome = try render(try even([0, 0, 0, alpha])) { ($0.isBitonal, $0.background) = (true, .white) }
            XCTAssertEqual(pixel(outcome, 3, 3), [expected, expected, expected, 255])
        }
    }

    func testThatGrayOnAColoredCanvasHasNoGrayProfile() throws {
        // Given a gray picture with a profile, which is to be kept
        var picture = try PixelBuffer(PixelLayout(width: 8, height: 8, model: .gray, hasAlpha: false), limits: Limits())
        for y in 0..<8 { picture.withMutableRow(y) { row in for index in 0..<row.count { row[index] = 128 } } }
        let file = try codec.encode(picture, EncodeOptions(profile: DrawnProfile.gray(gamma: 1)))
        // When it gets a red border
        for format in [ImageFormat.png, .jpeg] {
            var transform = Transform()
            transform.padding = .init(top: 2, right: 2, bottom: 2, left: 2)
            (transform.background, transform.convertsToSRGB, transform.format) = (Color(red: 255, green: 0, blue: 0), false, format)
            let image = try renderer.render(file, as: transform)
            // Then gray has become sRGB, and no profile describes something else
            let header = try renderer.open(image.body).header
            XCTAssertEqual(header.model, format == .png ? .rgb : .ycbcr)
            if case .icc = header.colors { XCTFail("\(format) has a profile") }
        }
    }

    func testThatPaddingHasTheBackgroundsColor() throws {
        let outcome = try render(try even([10, 20, 30])) {
            $0.padding = .init(top: 0, right: 0, bottom: 0, left: 1)
            $0.background = Color(red: 200, green: 100, blue: 50)
        }
        XCTAssertEqual(pixel(outcome, 0, 0), [200, 100, 50, 255])
    }

    func testThatAGrayPictureTakesAColoredBackground() throws {
        var picture = try PixelBuffer(PixelLayout(width: 4, height: 4, model: .gray), limits: Limits())
        for y in 0..<4 { picture.withMutableRow(y) { row in for x in 0..<4 { row[x] = 99 } } }
        let outcome = try render(picture) {
            ($0.width, $0.height) = (4, 8)
            $0.extends = .center
            $0.background = Color(red: 200, green: 100, blue: 50)
        }
        XCTAssertEqual(pixel(outcome, 0, 0), [200, 100, 50, 255])
        XCTAssertEqual(pixel(outcome, 0, 4), [99, 99, 99, 255])
    }

    func testThatABackgroundShowsThroughClearPixels() throws {
        let outcome = try render(try even([0, 0, 0, 51])) { $0.background = .white }
        XCTAssertEqual(pixel(outcome, 3, 3), [204, 204, 204, 255])
    }

    func testThatClearPixelsBecomeWhiteWhereTheFormatHasNoAlpha() throws {
        // Given
        var transform = Transform()
        transform.format = .jpeg
        // When
        let image = try renderer.render(try codec.encode(try even([0, 0, 0, 0]), EncodeOptions()), as: transform)
        // Then
        let picture = try JPEGCodec().picture(Array(image.body.readableBytesView))
        XCTAssertGreaterThan(pixel(picture, 4, 4)[0], 253)
    }

    func testThatBlurringKeepsEvenAreasAndSoftensEdges() throws {
        // Given a black half and a white half
        var picture = try PixelBuffer(PixelLayout(width: 64, height: 16, model: .gray), limits: Limits())
        for y in 0..<16 { picture.withMutableRow(y) { row in for x in 32..<64 { row[x] = 255 } } }
        for deviation in [2.0, 12] {
            // When
            let outcome = try render(picture) { $0.blur = deviation }
            // Then a Gaussian's integral is 16 % one deviation before the edge
            let before = Double(pixel(outcome, 31 - Int(deviation), 8)[0]) / 255
            XCTAssertEqual(before, 0.15, accuracy: 0.05, "\(deviation)")
            XCTAssertEqual(Int(pixel(outcome, 31, 8)[0]) + Int(pixel(outcome, 32, 8)[0]), 255, accuracy: 4)
        }
        let far = try render(picture) { $0.blur = 2 }
        XCTAssertEqual(pixel(far, 0, 0)[0], 0)
        XCTAssertEqual(pixel(far, 63, 15)[0], 255)
    }

    func testThatSharpeningKeepsEvenAreasAndSteepensEdges() throws {
        // Given
        var picture = try PixelBuffer(PixelLayout(width: 32, height: 8, model: .gray), limits: Limits())
        for y in 0..<8 { picture.withMutableRow(y) { row in for x in 0..<32 { row[x] = x < 16 ? 100 : 150 } } }
        // When
        let outcome = try render(picture) { $0.sharpen = 1 }
        // Then
        XCTAssertEqual(pixel(outcome, 2, 2)[0], 100)
        XCTAssertLessThan(pixel(outcome, 15, 2)[0], 90)
        XCTAssertGreaterThan(pixel(outcome, 16, 2)[0], 160)
    }

    func testThatEachOrientationOfAFileIsTurnedUpright() throws {
        // Given a red left half, stored in each of the eight orientations
        for orientation in Orientation.allCases {
            for isLittleEndian in [true, false] {
                var picture = try PixelBuffer(PixelLayout(width: 64, height: 32, model: .rgb), limits: Limits())
                for y in 0..<32 {
                    picture.withMutableRow(y) { row in
                        for x in 0..<64 { (row[x * 3], row[x * 3 + 2]) = (x < 32 ? 255 : 0, x < 32 ? 0 : 255) }
                    }
                }
                let exif = Self.exif(orientation, isLittleEndian)
                let original = try JPEGCodec().encode(picture, EncodeOptions(quality: 95, exif: exif))
                // When
                var transform = Transform()
                transform.format = .png
                let image = try renderer.render(original, as: transform)
                // Then it appears according to the standard
                let outcome = try codec.picture(Array(image.body.readableBytesView))
                let (width, height) = orientation.swapsSides ? (32, 64) : (64, 32)
                XCTAssertEqual([image.width, image.height], [width, height])
                let (x, y) =
                    switch orientation {
                    case .up, .downMirrored: (4, 16)
                    case .upMirrored, .down: (59, 16)
                    case .leftMirrored, .right: (16, 4)
                    case .rightMirrored, .left: (16, 59)
                    }
                XCTAssertGreaterThan(pixel(outcome, x, y)[0], 200, "\(orientation)")
            }
        }
    }

    private static func exif(_ orientation: Orientation, _ isLittleEndian: Bool) -> [UInt8] {
        let value = UInt8(orientation.rawValue)
        return isLittleEndian
            ? Array("II*\0\u{8}\0\0\0\u{1}\0\u{12}\u{1}\u{3}\0\u{1}\0\0\0".utf8) + [value, 0, 0, 0, 0, 0, 0, 0]
            : Array("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0".utf8) + [value, 0, 0, 0, 0, 0, 0]
    }

    func testThatMetadataIsLeftOut() throws {
        let original = try JPEGCodec().encode(
            try even([1, 2, 3]), EncodeOptions(exif: EXIF.tiff(copyright: "© A. Painter")))
        let image = try renderer.render(original, as: Transform())
        XCTAssertNil(try renderer.header(of: image.body).exif)
    }

    func testThatACopyrightNoticeSurvivesWhereItIsWanted() throws {
        let original = try JPEGCodec().encode(
            try even([1, 2, 3]), EncodeOptions(exif: EXIF.tiff(copyright: "© A. Painter")))
        var transform = Transform()
        transform.keepsCopyright = true
        let header = try renderer.header(of: try renderer.render(original, as: transform).body)
        XCTAssertEqual(header.copyright, "© A. Painter")
    }

    func testThatMetadataThatIsKeptSaysUpright() throws {
        // Given
        let original = try JPEGCodec().encode(try even([1, 2, 3]), EncodeOptions(exif: Self.exif(.right, false)))
        var transform = Transform()
        transform.stripsMetadata = false
        // When
        let header = try renderer.header(of: try renderer.render(original, as: transform).body)
        // Then
        XCTAssertEqual(header.exif, Self.exif(.up, false))
    }
}
