import OnesheetCore
import XCTest

@testable import OnesheetImaging

final class PlaceholderTests: XCTestCase {
    func testThatAHashSaysTheAverageColour() {
        for color: SIMD3<Float> in [[0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 0.5, 1], [0.2, 0.8, 0.3]] {
            // Given a picture of one colour
            let hash = ThumbHash(picture(20, 30) { _, _ in SIMD4(color, 1) }).bytes
            // Then a decoder of the published format returns it, within its precision
            let average = PublishedThumbHash(hash).average
            for channel in 0..<3 { XCTAssertEqual(average[channel], color[channel], accuracy: 0.05, "\(color)") }
            XCTAssertEqual(PublishedThumbHash(hash).hasAlpha, false)
        }
    }

    func testThatAHashSaysTheShape() {
        for (width, height, ratio) in [(32, 32, 1.0), (21, 32, 5.0 / 7), (32, 16, 7.0 / 4), (32, 1, 7.0), (1, 32, 1.0 / 7)] {
            let hash = ThumbHash(picture(width, height) { _, _ in SIMD4(0.5, 0.5, 0.5, 1) }).bytes
            XCTAssertEqual(PublishedThumbHash(hash).ratio, ratio, accuracy: 0.001, "\(width) × \(height)")
        }
    }

    func testThatAHashShowsWhereThePictureIsBright() {
        // Given a picture that is bright at the top and dark at the bottom
        let hash = ThumbHash(picture(20, 30) { _, y in y < 15 ? SIMD4(1, 1, 1, 1) : SIMD4(0, 0, 0, 1) }).bytes
        // When it is decoded
        let read = PublishedThumbHash(hash)
        // Then its halves are too
        XCTAssertGreaterThan(read.luma(x: 0.5, y: 0.2), 0.7)
        XCTAssertLessThan(read.luma(x: 0.5, y: 0.8), 0.3)
    }

    func testThatAHashKeepsTransparency() {
        let hash = ThumbHash(picture(32, 32) { x, _ in SIMD4(1, 0, 0, x < 16 ? 1 : 0) }).bytes
        XCTAssertTrue(PublishedThumbHash(hash).hasAlpha)
        XCTAssertEqual(Float(hash[5] & 15) / 15, 0.5, accuracy: 0.05)
        // Transparent pixels have the colour of the visible ones.
        XCTAssertEqual(PublishedThumbHash(hash).average[0], 1, accuracy: 0.05)
    }

    func testThatHashesAreSmall() {
        for (width, height) in [(1, 1), (32, 32), (21, 32), (32, 3)] {
            let opaque = ThumbHash(picture(width, height) { x, y in SIMD4(Float(x) / 32, Float(y) / 32, 0.3, 1) }).bytes
            let clear = ThumbHash(picture(width, height) { _, _ in SIMD4(0, 0, 0, 0) }).bytes
            XCTAssertLessThanOrEqual(opaque.count, 25, "\(width) × \(height)")
            XCTAssertLessThanOrEqual(clear.count, 28, "\(width) × \(height)")
        }
    }

    func testThatTheMainColourIsWhatMostOfThePictureHas() {
        let poster = picture(20, 30) { x, _ in x < 14 ? SIMD4(0.4, 0.2, 0.6, 1) : SIMD4(1, 1, 0, 1) }
        XCTAssertEqual(Placeholder.dominant(poster), Color(red: 102, green: 51, blue: 153))
        XCTAssertEqual(Placeholder.dominant(picture(3, 3) { _, _ in .zero }), .white)
    }

    func testThatAThumbnailShowsThePixelsOfEveryLayout() throws {
        for layout in [
            PixelLayout(width: 20, height: 15, model: .gray), PixelLayout(width: 20, height: 15, model: .gray, hasAlpha: true),
            PixelLayout(width: 20, height: 15, model: .rgb), PixelLayout(width: 20, height: 15, model: .rgb, hasAlpha: true),
            PixelLayout(width: 21, height: 15, planarWithSubsampling: 1, 1),
            PixelLayout(width: 21, height: 15, planarWithSubsampling: 2, 2),
        ] {
            // Given a picture that is as small as its thumbnail, with another colour in each pixel
            var pixels = try PixelBuffer(layout, limits: Limits())
            func sample(_ x: Int, _ y: Int, plane: Int = 0) -> UInt8 {
                UInt8(truncatingIfNeeded: x * 37 + y * 101 + plane * 59 + 5)
            }
            for (index, plane) in layout.planes.enumerated() {
                for y in 0..<plane.height {
                    pixels.withMutableRow(y, plane: index) { row in
                        for x in 0..<row.count { row[x] = sample(x, y, plane: index) }
                    }
                }
            }
            // When
            let thumbnail = Thumbnail(pixels)
            // Then
            let channels = layout.planes[0].channels
            for (place, pixel) in thumbnail.pixels.enumerated() {
                let (x, y) = (place % layout.width, place / layout.width)
                func packed(_ channel: Int) -> Float { Float(sample(x * channels + channel, y)) / 255 }
                var color = channels < 3 ? SIMD3(repeating: packed(0)) : SIMD3(packed(0), packed(1), packed(2))
                if layout.isPlanar {
                    let (across, down) = (x / layout.subsampling.x, y / layout.subsampling.y)
                    let blue = Float(sample(across, down, plane: 1)) - 128
                    let red = Float(sample(across, down, plane: 2)) - 128
                    let luma = Float(sample(x, y))
                    color = SIMD3(luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue) / 255
                    color.clamp(lowerBound: .zero, upperBound: .one)
                }
                let alpha = layout.hasAlpha ? packed(channels - 1) : 1
                XCTAssertEqual(pixel.w, alpha, accuracy: 1e-5)
                guard alpha > 0 else { continue }
                for channel in 0..<3 { XCTAssertEqual(pixel[channel], color[channel], accuracy: 1e-4, "\(layout), \(x), \(y)") }
            }
        }
    }

    func testThatEveryLayoutIsReadTheSame() throws {
        // Given one colour in planes, packed, gray and with alpha
        let layouts: [(PixelLayout, [UInt8], [UInt8])] = [
            (PixelLayout(width: 70, height: 50, model: .rgb), [200, 100, 50], []),
            (PixelLayout(width: 70, height: 50, model: .rgb, hasAlpha: true), [200, 100, 50, 255], []),
            (PixelLayout(width: 71, height: 51, planarWithSubsampling: 2, 2), [124], [86, 182]),
        ]
        for (layout, packed, chroma) in layouts {
            var pixels = try PixelBuffer(layout, limits: Limits())
            for (index, plane) in layout.planes.enumerated() {
                let sample = index == 0 ? packed : [chroma[index - 1]]
                for y in 0..<plane.height {
                    pixels.withMutableRow(y, plane: index) { row in
                        for x in 0..<plane.width * plane.channels { row[x] = sample[x % sample.count] }
                    }
                }
            }
            // Then it is the main colour
            let color = Placeholder(pixels).color
            XCTAssertEqual(Int(color.red), 200, accuracy: 2)
            XCTAssertEqual(Int(color.green), 100, accuracy: 2)
            XCTAssertEqual(Int(color.blue), 50, accuracy: 2)
        }
    }

    private func picture(_ width: Int, _ height: Int, color: (Int, Int) -> SIMD4<Float>) -> Thumbnail {
        Thumbnail(
            width: width, height: height,
            pixels: (0..<height).flatMap { y in (0..<width).map { x in color(x, y) } })
    }
}

/// Decodes a hash according to evanw.github.io/thumbhash.
private struct PublishedThumbHash {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var header: Int { Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16 }
    private var shape: Int { Int(bytes[3]) | Int(bytes[4]) << 8 }
    var hasAlpha: Bool { header >> 23 == 1 }
    private var isLandscape: Bool { shape >> 15 == 1 }

    private var counts: (x: Int, y: Int) {
        let (short, long) = (shape & 7, hasAlpha ? 5 : 7)
        return isLandscape ? (long, short) : (short, long)
    }

    var ratio: Double { Double(counts.x) / Double(counts.y) }

    var average: [Float] {
        let luma = Float(header & 63) / 63
        let yellow = Float(header >> 6 & 63) / 31.5 - 1
        let red = Float(header >> 12 & 63) / 31.5 - 1
        let blue = luma - 2 / 3 * yellow
        let r = (3 * luma - blue + red) / 2
        return [r, r - red, blue].map { min(max($0, 0), 1) }
    }

    /// The brightness at a point, as fractions of the sides.
    func luma(x: Float, y: Float) -> Float {
        let (countX, countY) = (max(3, counts.x), max(3, counts.y))
        let scale = Float(header >> 18 & 31) / 31
        var value = Float(header & 63) / 63
        var index = 0
        for waveY in 0..<countY {
            for waveX in 0..<countX where waveX * countY < countX * (countY - waveY) && waveX + waveY > 0 {
                let nibble = bytes[(hasAlpha ? 6 : 5) + index / 2] >> UInt8(index % 2 * 4) & 15
                let factor = (Float(nibble) / 7.5 - 1) * scale
                value += 2 * factor * cosine(waveX, x) * cosine(waveY, y)
                index += 1
            }
        }
        return value
    }

    private func cosine(_ wave: Int, _ place: Float) -> Float { Float.cosine(Float.pi * Float(wave) * place) }
}

extension Float {
    /// A power series, which is precise enough and needs no library.
    fileprivate static func cosine(_ angle: Float) -> Float {
        let x = Double(angle).remainder(dividingBy: 2 * .pi)
        var (term, sum) = (1.0, 1.0)
        for index in 1...12 {
            term *= -x * x / Double((2 * index - 1) * (2 * index))
            sum += term
        }
        return Float(sum)
    }
}
