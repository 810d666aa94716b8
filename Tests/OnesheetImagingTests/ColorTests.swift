import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
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

    func testThatLinearLightAveragesLight() throws {
        // Given black and white columns
        var linear = renderer
        linear.resamplesInLinearLight = true
        var picture = try PixelBuffer(PixelLayout(width: 64, height: 64, model: .rgb), limits: Limits())
        for y in 0..<64 {
            picture.withMutableRow(y) { row in for index in 0..<row.count { row[index] = index / 3 % 2 == 0 ? 0 : 255 } }
        }
        let original = try PNGCodec().encode(picture, EncodeOptions())
        var transform = Transform()
        transform.width = 4
        // Then the average is half of the light, or half of the value
        assertNear(try firstPixel(try linear.render(original, as: transform).body), [188], accuracy: 3)
        assertNear(try firstPixel(try renderer.render(original, as: transform).body), [128], accuracy: 3)
    }
}
