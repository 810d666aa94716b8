import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import JPEGCodec
import XCTest

@testable import OnesheetImaging

final class WatermarkTests: XCTestCase {
    private let codec = PNGCodec()

    private func file(_ width: Int, _ height: Int, pixel: (Int, Int) -> [UInt8]) throws -> ByteBuffer {
        let hasAlpha = pixel(0, 0).count == 4
        var picture = try PixelBuffer(PixelLayout(width: width, height: height, model: .rgb, hasAlpha: hasAlpha), limits: Limits())
        for y in 0..<height {
            let row = (0..<width).flatMap { pixel($0, y) }
            picture.withMutableRow(y) { samples in for place in row.indices { samples[place] = row[place] } }
        }
        return try codec.encode(picture, EncodeOptions())
    }

    /// A renderer with a watermark of `width` × `height` pixels, each of which says its place.
    private func renderer(_ width: Int, _ height: Int, opacity: Double = 1, alpha: UInt8 = 255) throws -> Renderer {
        var renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())
        let file = try file(width, height) { x, y in
            [UInt8(truncatingIfNeeded: 100 + x), UInt8(truncatingIfNeeded: 100 + y), 7, alpha]
        }
        renderer.watermark = try renderer.watermark(file, opacity: opacity, digest: "d")
        return renderer
    }

    /// Red, green, blue and alpha of a variant of a black picture.
    private func drawn(
        _ renderer: Renderer, on width: Int, height: Int, watermark: Transform.Watermark, back: [UInt8] = [0, 0, 0],
        changing change: (inout Transform) -> Void = { _ in }
    ) throws -> [[UInt8]] {
        var transform = Transform()
        (transform.watermark, transform.format) = (watermark, .png)
        change(&transform)
        let image = try renderer.render(try file(width, height) { _, _ in back }, as: transform)
        var sink = RowCollector()
        try codec.decode(Array(image.body.readableBytesView).span, DecodeRequest(), into: &sink)
        let rgba = try XCTUnwrap(sink.rgba)
        return stride(from: 0, to: rgba.count, by: 4).map { Array(rgba[$0..<($0 + 4)]) }
    }

    /// The upper left pixel of the watermark of which each pixel says its place, in a picture of `width` pixels a row.
    private func corner(_ pixels: [[UInt8]], _ width: Int) -> [Int]? {
        pixels.firstIndex { $0[2] == 7 }.map { [$0 % width - Int(pixels[$0][0]) + 100, $0 / width - Int(pixels[$0][1]) + 100] }
    }

    func testWhatIsDrawnHasTheColoursOfTheProfileThatIsKept() throws {
        // Given a picture in Display P3, half of which is transparent, and a red watermark
        var picture = try PixelBuffer(PixelLayout(width: 8, height: 4, model: .rgb, hasAlpha: true), limits: Limits())
        for y in 0..<4 {
            picture.withMutableRow(y) { row in for x in 0..<8 where x < 4 { row[x * 4 + 1] = 255; row[x * 4 + 3] = 255 } }
        }
        let original = try codec.encode(picture, EncodeOptions(profile: DrawnProfile.displayP3))
        var renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())
        renderer.watermark = try renderer.watermark(try file(1, 1) { _, _ in [255, 0, 0, 255] }, opacity: 1, digest: "d")
        var transform = Transform()
        (transform.format, transform.background) = (.png, Color(red: 255, green: 0, blue: 0))
        transform.watermark = Transform.Watermark(opacity: 1, position: .compass(x: -1, y: -1), digest: "d")
        for convertsToSRGB in [false, true] {
            transform.convertsToSRGB = convertsToSRGB
            // When the profile is kept, or not
            let image = try renderer.render(original, as: transform)
            let bytes = Array(image.body.readableBytesView)
            // Then the background and the watermark are the same red, in the colours of the file
            XCTAssertEqual(try codec.header(of: bytes.span).colors == .sRGB, convertsToSRGB)
            var sink = RowCollector()
            try codec.decode(bytes.span, DecodeRequest(), into: &sink)
            let rgba = try XCTUnwrap(sink.rgba)
            let red: [UInt8] = convertsToSRGB ? [255, 0, 0] : [233, 54, 40]
            let pixels = stride(from: 0, to: rgba.count, by: 4).map { rgba[$0..<($0 + 3)].map(Int.init) }
            for pixel in [pixels[0], pixels[7]] {
                for (channel, level) in zip(pixel, red) { XCTAssertLessThanOrEqual(abs(channel - Int(level)), 2, "\(pixel)") }
            }
            // And nothing that the picture has was changed
            if !convertsToSRGB { XCTAssertEqual(pixels[1], [0, 255, 0]) }
        }
    }

    func testThatAWatermarkMayBeLargerThanThePictureWithinTheLimit() throws {
        // Given a watermark that is twice as large as the picture
        var renderer = try renderer(4, 2)
        let watermark = Transform.Watermark(opacity: 1, scale: 2, digest: "d")
        // When it is drawn
        let pixels = try drawn(renderer, on: 8, height: 4, watermark: watermark)
        // Then it covers the picture
        XCTAssertEqual(pixels.count { $0[2] == 7 }, 32)
        // And it is refused if it has more pixels than a variant may have
        renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits(outputPixels: 100))
        renderer.watermark = try self.renderer(4, 2).watermark
        XCTAssertThrowsError(try drawn(renderer, on: 8, height: 4, watermark: watermark)) {
            XCTAssertEqual($0 as? RenderError, .tooManyOutputPixels(width: 16, height: 8, limit: 100))
        }
    }

    func testThatAWatermarkLiesWhereItIsAskedFor() throws {
        let renderer = try renderer(4, 2)
        typealias Position = Transform.Watermark.Position
        for (position, x, y, expected) in [
            (Position.compass(x: 0, y: 0), 0.0, 0.0, [8, 4]), (.compass(x: -1, y: -1), 0, 0, [0, 0]),
            (.compass(x: 1, y: 1), 0, 0, [16, 8]), (.compass(x: 1, y: -1), 3, 2, [13, 2]), (.compass(x: 0, y: 1), 2, 1, [10, 7]),
            (.compass(x: -1, y: -1), 0.25, 0.5, [5, 5]), (.compass(x: 0, y: 0), -3, -1, [5, 3]),
            // At least one pixel stays in the picture.
            (.compass(x: -1, y: -1), -100, 0, [-3, 0]), (.compass(x: -1, y: -1), 100, 100, [19, 9]),
        ] {
            let pixels = try drawn(
                renderer, on: 20, height: 10, watermark: .init(opacity: 1, position: position, offsetX: x, offsetY: y, digest: "d"))
            XCTAssertEqual(corner(pixels, 20), expected, "\(position) \(x) \(y)")
        }
    }

    func testThatAWatermarkIsAsLargeAsAskedFor() throws {
        let renderer = try renderer(8, 4)
        func count(_ scale: Double, on width: Int, _ height: Int) throws -> Int {
            let pixels = try drawn(renderer, on: width, height: height, watermark: .init(opacity: 1, scale: scale, digest: "d"))
            return pixels.count { $0[2] > 0 }
        }
        // Its own size, also if that is larger than the picture.
        XCTAssertEqual(try count(0, on: 20, 10), 8 * 4)
        XCTAssertEqual(try count(0, on: 6, 3), 6 * 3)
        // In its proportions within a part of the picture, also enlarged.
        XCTAssertEqual(try count(0.5, on: 20, 10), 10 * 5)
        XCTAssertEqual(try count(1, on: 20, 40), 20 * 10)
        XCTAssertEqual(try count(0.2, on: 20, 10), 4 * 2)
        XCTAssertEqual(try count(0.001, on: 20, 10), 1)
    }

    func testThatARepeatedWatermarkFillsThePicture() throws {
        let renderer = try renderer(4, 2)
        let pixels = try drawn(renderer, on: 20, height: 10, watermark: .init(opacity: 1, position: .repeated, digest: "d"))
        XCTAssertEqual(pixels.count { $0[2] == 7 }, 200)
        // One lies in the middle.
        XCTAssertEqual(pixels[4 * 20 + 8], [100, 100, 7, 255])
        // With a space of 6 × 3 pixels, every fifth column of every fifth row begins one.
        let spaced = try drawn(
            renderer, on: 20, height: 10, watermark: .init(opacity: 1, position: .repeated, offsetX: 6, offsetY: 0.3, digest: "d"))
        XCTAssertEqual(spaced.count { $0[2] == 7 }, 2 * 2 * 4 * 2)
        let none = try drawn(
            renderer, on: 20, height: 10, watermark: .init(opacity: 1, position: .repeated, offsetX: -60, offsetY: -60, digest: "d")
        )
        XCTAssertEqual(none.count { $0[2] == 7 }, 200)
    }

    func testThatOpacitiesAreMultiplied() throws {
        // Given a watermark at half its opacity, with pixels that are half transparent, at half the opacity
        let renderer = try renderer(4, 2, opacity: 0.5, alpha: 128)
        let watermark = Transform.Watermark(opacity: 0.5, position: .compass(x: -1, y: -1), digest: "d")
        // When it is drawn on an opaque and on a clear picture
        let opaque = try drawn(renderer, on: 8, height: 8, watermark: watermark, back: [200, 200, 200])
        let clear = try drawn(renderer, on: 8, height: 8, watermark: watermark, back: [0, 0, 0, 0])
        // Then an eighth of its colour is there, or an eighth of its alpha
        XCTAssertEqual(opaque[0], [187, 187, 176, 255])
        XCTAssertEqual(clear[0], [100, 100, 7, 32])
        XCTAssertEqual(clear[63], [0, 0, 0, 0])
        // And alpha adds up.
        XCTAssertEqual(
            try drawn(renderer, on: 8, height: 8, watermark: watermark, back: [100, 100, 7, 128])[0], [100, 100, 7, 144])
    }

    func testThatItIsDrawnLast() throws {
        // Given a canvas and filters around the picture
        let renderer = try renderer(4, 2)
        let pixels = try drawn(
            renderer, on: 8, height: 8, watermark: .init(opacity: 1, position: .compass(x: -1, y: -1), digest: "d")
        ) {
            ($0.padding, $0.background, $0.isGray, $0.blur) = (.init(top: 2, right: 2, bottom: 2, left: 2), .white, true, 3)
        }
        XCTAssertEqual(pixels.count, 144)
        XCTAssertEqual(pixels[0], [100, 100, 7, 255])
        XCTAssertEqual(pixels[143], [255, 255, 255, 255])
    }

    func testThatAJPEGInPlanesHasItToo() throws {
        let renderer = try renderer(20, 20)
        var transform = Transform()
        (transform.width, transform.watermark) = (60, .init(opacity: 1, position: .compass(x: -1, y: -1), scale: 1, digest: "d"))
        transform.quality = 95
        let original = ByteBuffer(bytes: try DrawnPoster(width: 120, height: 180).file(JPEGCodec(), planes: (2, 2)))
        let image = try renderer.render(original, as: transform)
        let picture = try JPEGCodec().picture(Array(image.body.readableBytesView))
        let color = picture.withRow(30) { row in (0..<3).map { Int(row[90 + $0]) } }
        for (found, expected) in zip(color, [110, 110, 7]) { XCTAssertLessThan(abs(found - expected), 12, "\(color)") }
    }

    func testThatAnotherWatermarkIsRefused() throws {
        for renderer in [try renderer(4, 2), Renderer(codecs: [PNGCodec()], limits: Limits())] {
            XCTAssertThrowsError(try drawn(renderer, on: 8, height: 8, watermark: .init(opacity: 1, digest: "other"))) {
                XCTAssertEqual($0 as? RenderError, .otherWatermark)
            }
        }
    }

    func testThatAWatermarkIsCheckedWhenItIsRead() throws {
        let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())
        XCTAssertThrowsError(try renderer.watermark(ByteBuffer(string: "text"), opacity: 1, digest: "d")) {
            XCTAssertEqual($0 as? RenderError, .unrecognizedFormat)
        }
        let large = try file(2001, 2000) { _, _ in [0, 0, 0] }
        XCTAssertThrowsError(try renderer.watermark(large, opacity: 1, digest: "d")) {
            XCTAssertEqual($0 as? RenderError, .codec(.tooManyPixels(width: 2001, height: 2000, limit: 4_000_000), .png))
        }
        // One without alpha is a watermark too.
        XCTAssertEqual(
            try renderer.watermark(try file(3, 2) { _, _ in [9, 9, 9] }, opacity: 1, digest: "d").size, Size(width: 3, height: 2))
    }

    func testThatItsCostIsCounted() throws {
        // Given a large watermark on a small picture
        let renderer = try renderer(100, 2000)
        let original = try renderer.open(try file(40, 40) { _, _ in [0, 0, 0] })
        func cost(_ watermark: Transform.Watermark?) throws -> RenderCost {
            var transform = Transform()
            (transform.watermark, transform.width) = (watermark, 20)
            return try renderer.cost(of: original.outline, as: [transform])
        }
        let (without, with) = (try cost(nil), try cost(.init(opacity: 1, scale: 0.5, digest: "d")))
        // Then its pixels and the time for scaling them count
        XCTAssertGreaterThan(with.bytes, PixelBuffer.bytes(for: PixelLayout(width: 100, height: 2000, model: .rgb, hasAlpha: true)))
        XCTAssertGreaterThan(with.milliseconds, without.milliseconds)
    }
}
