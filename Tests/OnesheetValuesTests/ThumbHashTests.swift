import OnesheetValues
import XCTest

final class ThumbHashTests: XCTestCase {
    func testThatAPublishedHashHasThePublishedPixels() throws {
        // Given a hash of 23 × 32 pixels
        let hash = try XCTUnwrap(ThumbHash(base64: "1QcSHQRnh493V4dIh4eXh1h4kJUI"))
        // When it is decoded
        let pixels = hash.pixels
        // Then it has the pixels of the algorithm at evanw.github.io/thumbhash, computed with another implementation
        XCTAssertEqual([pixels.width, pixels.height, pixels.rgba.count], [23, 32, 23 * 32 * 4])
        XCTAssertEqual(hash.ratio, 5.0 / 7)
        XCTAssertFalse(hash.hasAlpha)
        let expected: [(x: Int, y: Int, rgb: [Int])] = [
            (0, 0, [64, 77, 113]), (22, 0, [84, 109, 139]), (11, 16, [140, 109, 88]), (0, 31, [0, 12, 42]), (22, 31, [0, 4, 39]),
        ]
        for (x, y, rgb) in expected {
            let start = (y * 23 + x) * 4
            for (channel, level) in rgb.enumerated() {
                XCTAssertEqual(Int(pixels.rgba[start + channel]), level, accuracy: 1, "\(x), \(y)")
            }
            XCTAssertEqual(pixels.rgba[start + 3], 255)
        }
    }

    func testThatAHashGivesBackItsPicture() {
        for (width, height) in [(20, 30), (32, 12), (32, 32)] {
            // Given a picture that changes smoothly, in colour and in brightness
            let hash = ThumbHash(
                width: width, height: height, pixels: Self.picture(width, height) { SIMD4(0.2 + 0.6 * $0, 0.7 - 0.4 * $1, 0.4, 1) })
            // When its hash is decoded
            let pixels = hash.pixels
            // Then each place has about its colour
            for y in 0..<pixels.height {
                for x in 0..<pixels.width {
                    let (across, down) = ((Float(x) + 0.5) / Float(pixels.width), (Float(y) + 0.5) / Float(pixels.height))
                    let start = (y * pixels.width + x) * 4
                    XCTAssertEqual(Float(pixels.rgba[start]) / 255, 0.2 + 0.6 * across, accuracy: 0.15)
                    XCTAssertEqual(Float(pixels.rgba[start + 1]) / 255, 0.7 - 0.4 * down, accuracy: 0.15)
                }
            }
        }
    }

    func testThatTransparencySurvives() {
        let hash = ThumbHash(width: 32, height: 16, pixels: Self.picture(32, 16) { x, _ in SIMD4(1, 0, 0, x < 0.5 ? 1 : 0) })
        let pixels = hash.pixels
        XCTAssertTrue(hash.hasAlpha)
        XCTAssertGreaterThan(pixels.rgba[3], 200)
        XCTAssertLessThan(pixels.rgba[31 * 4 + 3], 50)
    }

    func testThatItsBytesAndItsTextAreTheSameHash() throws {
        let hash = try XCTUnwrap(ThumbHash(base64: "1QcSHQRnh493V4dIh4eXh1h4kJUI"))
        XCTAssertEqual(ThumbHash(bytes: hash.bytes), hash)
        XCTAssertEqual(hash.bytes.count, 21)
    }

    func testThatNoHashIsMadeOfTooFewBytes() throws {
        let whole = try XCTUnwrap(ThumbHash(base64: "1QcSHQRnh493V4dIh4eXh1h4kJUI")).bytes
        for count in 0..<whole.count { XCTAssertNil(ThumbHash(bytes: Array(whole.prefix(count))), "\(count)") }
        for text in ["", "!", "1QcSHQRnh493", "no hash at all"] { XCTAssertNil(ThumbHash(base64: text), text) }
        // Its shorter side has no frequency.
        XCTAssertNil(ThumbHash(bytes: [UInt8](repeating: 0, count: 32)))
    }

    func testThatEveryHeaderIsDecodedOrRefused() {
        // Given every shape, with and without alpha, and extreme factors
        for shape in 0..<256 {
            for alpha: UInt8 in [0, 0x80] {
                for fill: UInt8 in [0, 0x88, 0xFF] {
                    var bytes = [UInt8](repeating: fill, count: 40)
                    (bytes[2], bytes[3], bytes[4]) = (alpha, UInt8(shape), UInt8(shape))
                    // When it is decoded, then it is a picture of its size, or nothing
                    guard let pixels = ThumbHash(bytes: bytes)?.pixels else { continue }
                    XCTAssertEqual(pixels.rgba.count, pixels.width * pixels.height * 4)
                    XCTAssertTrue(
                        (1...32).contains(pixels.width) && (1...45).contains(pixels.height), "\(pixels.width) × \(pixels.height)")
                }
            }
        }
    }

    private static func picture(_ width: Int, _ height: Int, color: (Float, Float) -> SIMD4<Float>) -> [SIMD4<Float>] {
        (0..<height).flatMap { y in
            (0..<width).map { x in color((Float(x) + 0.5) / Float(width), (Float(y) + 0.5) / Float(height)) }
        }
    }
}
