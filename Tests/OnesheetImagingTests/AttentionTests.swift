import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import XCTest

final class AttentionTests: XCTestCase {
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    /// A dull picture with a detailed, skin-coloured spot whose centre is at `x`, `y`.
    private func original(_ x: Int, _ y: Int, width: Int = 240, height: Int = 120) throws -> ByteBuffer {
        var picture = try PixelBuffer(PixelLayout(width: width, height: height, model: .rgb), limits: Limits())
        for row in 0..<height {
            picture.withMutableRow(row) { samples in
                for column in 0..<width {
                    let isSpot = (column - x) * (column - x) + (row - y) * (row - y) < 20 * 20
                    let color: [UInt8] =
                        isSpot ? ((column / 4 + row / 4) % 3 == 0 ? [90, 50, 40] : [214, 160, 124]) : [70, 74, 78]
                    for channel in 0..<3 { samples[column * 3 + channel] = color[channel] }
                }
            }
        }
        return try PNGCodec().encode(picture, EncodeOptions())
    }

    /// The fraction of the variant's pixels that are not dull.
    private func spot(_ image: RenderedImage) throws -> Double {
        let picture = try PNGCodec().picture(Array(image.body.readableBytesView))
        var count = 0
        for y in 0..<image.height {
            picture.withRow(y) { row in for x in 0..<image.width where abs(Int(row[x * 3]) - 70) > 12 { count += 1 } }
        }
        return Double(count) / Double(image.width * image.height)
    }

    func testThatASmartFillKeepsWhatDrawsAttention() throws {
        for x in [30, 120, 205] {
            // Given
            var transform = Transform()
            transform.resizing = .fill
            (transform.width, transform.height) = (60, 60)
            transform.gravity = .smart
            // When
            let image = try renderer.render(try original(x, 60), as: transform)
            // Then the whole spot has 1257 of 14,400 pixels
            XCTAssertEqual([image.width, image.height], [60, 60])
            XCTAssertGreaterThan(try spot(image), 0.075, "\(x)")
        }
    }

    func testThatASmartCropKeepsWhatDrawsAttention() throws {
        // Given
        var transform = Transform()
        transform.crop = .init(width: 60, height: 60, gravity: .smart)
        // When
        let image = try renderer.render(try original(200, 90), as: transform)
        // Then almost the whole spot is visible
        XCTAssertGreaterThan(try spot(image), 0.3)
    }

    func testThatARotatedSmartFillKeepsWhatDrawsAttention() throws {
        // Given
        var transform = Transform()
        transform.resizing = .fill
        (transform.width, transform.height) = (60, 60)
        transform.gravity = .smart
        transform.rotation = 90
        // When, then
        XCTAssertGreaterThan(try spot(try renderer.render(try original(205, 60), as: transform)), 0.075)
    }

    func testThatAPictureWithNothingToSeeIsCutAroundItsMiddle() throws {
        // Given an even picture
        var transform = Transform()
        transform.resizing = .fill
        (transform.width, transform.height) = (60, 60)
        // When
        var center = transform
        center.gravity = .center
        transform.gravity = .smart
        var picture = try PixelBuffer(PixelLayout(width: 120, height: 60, model: .gray), limits: Limits())
        for y in 0..<60 { picture.withMutableRow(y) { row in for x in 0..<120 { row[x] = 128 } } }
        let original = try PNGCodec().encode(picture, EncodeOptions())
        // Then
        XCTAssertEqual(
            try renderer.render(original, as: transform).body, try renderer.render(original, as: center).body)
    }
}
