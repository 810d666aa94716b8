import AVIFCodec
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import WebPCodec
import XCTest

final class ColorTests: XCTestCase {
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    private func even(_ model: ColorModel, _ color: [UInt8], hasAlpha: Bool = false) throws -> PixelBuffer {
        var picture = try PixelBuffer(PixelLayout(width: 16, height: 16, model: model, hasAlpha: hasAlpha), limits: Limits())
        for y in 0..<16 {
            picture.withMutableRow(y) { row in for index in 0..<row.count { row[index] = color[index % color.count] } }
        }
        return picture
    }

    /// The first pixel of the result for a PNG with this profile.
    private func rendered(
        _ model: ColorModel, _ color: [UInt8], profile: [UInt8]?, hasAlpha: Bool = false,
        changing change: (inout Transform) -> Void = { _ in }
    ) throws -> [UInt8] {
        var transform = Transform()
        change(&transform)
        let original = try PNGCodec().encode(
            try even(model, color, hasAlpha: hasAlpha), EncodeOptions(profile: profile))
        return try firstPixel(try renderer.render(original, as: transform).body)
    }

    private func firstPixel(_ body: ByteBuffer) throws -> [UInt8] {
        let picture = try PNGCodec().picture(Array(body.readableBytesView))
        let channels = picture.layout.planes[0].channels
        return picture.withRow(0) { row in (0..<channels).map { row[$0] } }
    }

    private func assertNear(_ left: [UInt8], _ right: [UInt8], accuracy: Int = 2, line: UInt = #line) {
        XCTAssertEqual(left.count, right.count, line: line)
        for (a, b) in zip(left, right) { XCTAssertEqual(Int(a), Int(b), accuracy: accuracy, "\(left), \(right)", line: line) }
    }

    func testThatASRGBProfileChangesNothing() throws {
        XCTAssertEqual(try rendered(.rgb, [200, 100, 50], profile: DrawnProfile.sRGB), [200, 100, 50])
    }

    func testThatLinearNumbersBecomeSRGB() throws {
        // 0.5 of linear light is 188 in sRGB (IEC 61966-2-1).
        assertNear(try rendered(.rgb, [128, 128, 128], profile: DrawnProfile.linearSRGB), [188, 188, 188])
    }

    func testThatDisplayP3RedIsBeyondSRGB() throws {
        // (0.8, 0.2, 0.2) in P3 is a stronger red: more red, less of the others.
        let color = try rendered(.rgb, [204, 51, 51], profile: DrawnProfile.displayP3)
        XCTAssertGreaterThan(color[0], 212)
        XCTAssertLessThan(color[1], 40)
    }

    func testThatConversionKeepsAlpha() throws {
        let color = try rendered(.rgb, [128, 128, 128, 77], profile: DrawnProfile.linearSRGB, hasAlpha: true)
        assertNear(color, [188, 188, 188, 77])
    }

    func testThatAGrayProfileIsConvertedToo() throws {
        // The encoder may choose the layout of gray: compare one channel.
        assertNear(Array(try rendered(.gray, [128], profile: DrawnProfile.gray(gamma: 1)).prefix(1)), [188])
    }

    func testThatABrokenProfileIsNoProfile() throws {
        let broken = Array(DrawnProfile.displayP3.prefix(140)) + [UInt8](repeating: 7, count: 200)
        let original = try JPEGCodec().encode(try even(.rgb, [90, 120, 60]), EncodeOptions(quality: 100, profile: broken))
        var transform = Transform()
        transform.format = .png
        assertNear(try firstPixel(try renderer.render(original, as: transform).body), [90, 120, 60])
    }

    func testThatAProfileForOtherPixelsIsNoProfile() throws {
        let original = try JPEGCodec().encode(
            try even(.rgb, [90, 120, 60]), EncodeOptions(quality: 100, profile: DrawnProfile.gray(gamma: 1)))
        var transform = Transform()
        transform.format = .png
        assertNear(try firstPixel(try renderer.render(original, as: transform).body), [90, 120, 60])
    }

    func testThatUnconvertedColorsKeepTheirProfile() throws {
        // Given
        var transform = Transform()
        transform.convertsToSRGB = false
        let original = try JPEGCodec().encode(
            try even(.rgb, [90, 120, 60]), EncodeOptions(quality: 95, profile: DrawnProfile.displayP3))
        // When
        let image = try renderer.render(original, as: transform)
        // Then
        XCTAssertEqual(try renderer.header(of: image.body).colors, .icc(DrawnProfile.displayP3))
    }

    private let everyCodec = Renderer(codecs: [AVIFCodec(effort: 0), JPEGCodec(), PNGCodec(), WebPCodec()], limits: Limits())

    /// An AVIF file with the code points of Display P3 (ITU-T H.273).
    private func inDisplayP3(_ color: [UInt8]) throws -> ByteBuffer {
        var file = Array(
            try AVIFCodec(effort: 0).encode(try even(.rgb, color), EncodeOptions(quality: 100)).readableBytesView)
        let places = file.indices.filter { file[$0...].starts(with: Array("colrnclx".utf8)) }
        XCTAssertFalse(places.isEmpty)
        for place in places { (file[place + 9], file[place + 11]) = (12, 13) }
        return ByteBuffer(bytes: file)
    }

    func testShadowsOfOtherPrimariesAreThoseOfSRGB() throws {
        var transform = Transform()
        transform.format = .png
        for gray in [5, 10, 20, 40, 200] as [UInt8] {
            let image = try everyCodec.render(try inDisplayP3([gray, gray, gray]), as: transform)
            assertNear(Array(try firstPixel(image.body).prefix(1)), [gray])
        }
    }

    func testColorsWithoutAProfileBecomeSRGBAlsoWhereProfilesAreKept() throws {
        // Given
        let original = try inDisplayP3([204, 51, 51])
        for format in [ImageFormat.png, .jpeg, .webp, .avif] {
            // When
            let bodies = try [true, false].map { convertsToSRGB in
                var transform = Transform()
                (transform.format, transform.convertsToSRGB) = (format, convertsToSRGB)
                return try everyCodec.render(original, as: transform).body
            }
            // Then
            XCTAssertEqual(bodies[0], bodies[1], "\(format)")
            if format == .png { XCTAssertGreaterThan(try firstPixel(bodies[1])[0], 212) }
        }
    }

    func testGrayBecomesSRGBInAFormatWithoutGray() throws {
        // Given a gray picture in linear light, whose profile is to be kept
        let original = try PNGCodec().encode(try even(.gray, [128]), EncodeOptions(profile: DrawnProfile.gray(gamma: 1)))
        var transform = Transform()
        (transform.convertsToSRGB, transform.format) = (false, .webp)
        // When
        let image = try everyCodec.render(original, as: transform)
        // Then
        XCTAssertEqual(try everyCodec.header(of: image.body).colors, .sRGB)
        transform.format = .png
        assertNear(Array(try firstPixel(try everyCodec.render(image.body, as: transform).body).prefix(1)), [188], accuracy: 3)
    }

    func testThatConvertedColorsHaveNone() throws {
        let original = try JPEGCodec().encode(
            try even(.rgb, [90, 120, 60]), EncodeOptions(quality: 95, profile: DrawnProfile.displayP3))
        XCTAssertEqual(try renderer.header(of: try renderer.render(original, as: Transform()).body).colors, .sRGB)
    }

    func testThatInksWithoutAProfileBecomeTheirColors() throws {
        // Given full cyan and a fifth of black: no red, and four fifths of the others
        var transform = Transform()
        transform.format = .png
        let original = try JPEGCodec().encode(try even(.cmyk, [255, 0, 0, 51]), EncodeOptions(quality: 100))
        // When, then
        assertNear(try firstPixel(try renderer.render(original, as: transform).body), [0, 204, 204])
    }

    func testThatInksGoByTheirProfile() throws {
        // Given a profile in which only black is visible: half of it has a lightness of 50
        var transform = Transform()
        transform.format = .png
        let original = try JPEGCodec().encode(
            try even(.cmyk, [200, 0, 0, 128]), EncodeOptions(quality: 100, profile: DrawnProfile.blackOnly))
        // When, then
        assertNear(try firstPixel(try renderer.render(original, as: transform).body), [118, 118, 118], accuracy: 4)
    }

    /// The first pixel of a picture at a width of 4.
    private func averaged(
        _ columns: borrowing PixelBuffer, by codec: any Codec, inLight: Bool, from options: EncodeOptions = EncodeOptions()
    ) throws -> [UInt8] {
        var renderer = renderer
        renderer.resamplesInLinearLight = inLight
        var transform = Transform()
        (transform.width, transform.format) = (4, .png)
        return try firstPixel(try renderer.render(try codec.encode(columns, options), as: transform).body)
    }

    private func columns(
        _ model: ColorModel, width: Int = 64, planes: (Int, Int)? = nil, hasAlpha: Bool = false
    ) throws -> PixelBuffer {
        let layout =
            planes.map { PixelLayout(width: width, height: width, planarWithSubsampling: $0.0, $0.1) }
            ?? PixelLayout(width: width, height: width, model: model, hasAlpha: hasAlpha)
        var picture = try PixelBuffer(layout, limits: Limits())
        for (plane, shape) in layout.planes.enumerated() {
            let stride = picture.stride(of: plane)
            picture.withMutablePlane(plane) { samples in
                for y in 0..<shape.height {
                    for x in 0..<shape.width * shape.channels {
                        let isWhite = x / shape.channels % 2 == 1
                        samples[y * stride + x] =
                            plane > 0 ? 128 : isWhite || hasAlpha && x % shape.channels == shape.channels - 1 ? 255 : 0
                    }
                }
            }
        }
        return picture
    }

    func testColumnsBecomeHalfOfTheirLight() throws {
        for model in [ColorModel.gray, .rgb] {
            for hasAlpha in [false, true] {
                // Given
                let picture = try columns(model, hasAlpha: hasAlpha)
                // When, then
                assertNear(Array(try averaged(picture, by: PNGCodec(), inLight: true).prefix(1)), [188], accuracy: 3)
                assertNear(Array(try averaged(picture, by: PNGCodec(), inLight: false).prefix(1)), [128], accuracy: 3)
            }
        }
    }

    func testAShrunkJPEGHasTheLightOfWhatItLeavesOut() throws {
        for isProgressive in [false, true] {
            var configuration = JPEGCodec.Configuration()
            configuration.progressive = isProgressive
            for (model, planes) in [(ColorModel.gray, nil), (.ycbcr, (1, 1)), (.ycbcr, (2, 2))] {
                for width in [64, 32] {
                    // Given
                    let picture = try columns(model, width: width, planes: planes)
                    let (codec, options) = (JPEGCodec(configuration), EncodeOptions(quality: 95))
                    // When, then
                    let what = "\(model), \(width) pixels, progressive: \(isProgressive)"
                    let light = try averaged(picture, by: codec, inLight: true, from: options)[0]
                    // (the columns have one frequency alone, whose weight differs most from its quantiser)
                    XCTAssertEqual(Double(light), 188, accuracy: 30, what)
                    let stored = try averaged(picture, by: codec, inLight: false, from: options)[0]
                    XCTAssertEqual(Double(stored), 128, accuracy: 4, what)
                }
            }
        }
    }

    func testInkIsAShareOfThePaper() throws {
        // Given
        let picture = try columns(.cmyk)
        // When
        let light = try averaged(picture, by: JPEGCodec(), inLight: true, from: EncodeOptions(quality: 95))
        // Then
        XCTAssertEqual(light, try averaged(picture, by: JPEGCodec(), inLight: false, from: EncodeOptions(quality: 95)))
    }

    func testLargerPicturesAreTheSameInEveryLight() throws {
        for codec in [JPEGCodec() as any Codec, PNGCodec()] {
            // Given
            let original = try codec.encode(try DrawnPoster(width: 40, height: 60).draw(), EncodeOptions())
            var (stored, transform) = (renderer, Transform())
            stored.resamplesInLinearLight = false
            (transform.width, transform.enlarges, transform.format) = (90, true, .png)
            // When, then
            XCTAssertEqual(try renderer.render(original, as: transform).body, try stored.render(original, as: transform).body)
        }
    }

    func testHashesAreTheSameInEveryLight() throws {
        // Given
        let original = try JPEGCodec().encode(try DrawnPoster(width: 200, height: 300).draw(), EncodeOptions())
        var stored = renderer
        stored.resamplesInLinearLight = false
        // When, then
        XCTAssertEqual(try renderer.hash(of: renderer.open(original)), try stored.hash(of: stored.open(original)))
    }
}
