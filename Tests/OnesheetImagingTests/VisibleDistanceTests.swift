import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetImaging

final class VisibleDistanceTests: XCTestCase {
    /// Waves with noise of the given strength.
    private func plane(_ width: Int, _ height: Int, noise: Int, seed: UInt64 = 1) -> LumaPlane {
        var random = SplitMix(seed: seed)
        let samples = (0..<width * height).map { place in
            let (x, y) = (place % width, place / width)
            let change = noise > 0 ? Int(random.next() % UInt64(2 * noise + 1)) - noise : 0
            return UInt8(min(max((x * 5 & 127) + (y * 3 & 63) + 32 + change, 0), 255))
        }
        return LumaPlane(width: width, height: height, samples: samples)
    }

    private func distance(_ a: LumaPlane, _ b: LumaPlane) throws -> Int {
        try XCTUnwrap(try VisibleDistance(a, b, by: .never)).units
    }

    func testThatEqualPicturesHaveNone() throws {
        for (width, height) in [(8, 8), (9, 31), (92, 138), (342, 513)] {
            let picture = plane(width, height, noise: 20)
            XCTAssertEqual(try distance(picture, picture), 0, "\(width) × \(height)")
        }
    }

    func testThatItGrowsWithTheDifferenceAndIsTheSameBothWays() throws {
        // Given a picture, and copies with more and more noise
        let picture = plane(92, 138, noise: 0)
        let noisy = [1, 2, 4, 8, 16, 32, 64].map { plane(92, 138, noise: $0) }
        // When
        let distances = try noisy.map { try distance(picture, $0) }
        // Then
        for (smaller, larger) in zip(distances, distances.dropFirst()) { XCTAssertLessThan(smaller, larger) }
        XCTAssertEqual(try noisy.map { try distance($0, picture) }, distances)
    }

    func testThatItIsWhatFloatingPointNumbersGive() throws {
        for noise in [2, 10, 40] {
            // Given
            let (a, b) = (plane(101, 99, noise: 3, seed: 2), plane(101, 99, noise: noise))
            // When it is computed by the definition
            let expected = Self.norm(a, b) + 13 * Self.norm(Self.quarter(a), Self.quarter(b))
            // Then both agree up to the rounding of integers, which loses what is far below a visible difference
            XCTAssertEqual(Double(try distance(a, b)) / 65536, expected, accuracy: 0.0035 + expected * 0.005, "noise \(noise)")
        }
    }

    /// Other processors would give other files if these numbers changed.
    func testThatItIsTheSameOnAllProcessors() throws {
        let picture = plane(185, 278, noise: 5)
        XCTAssertEqual(try [1, 9, 30].map { try distance(picture, plane(185, 278, noise: $0, seed: 3)) }, Self.known)
    }

    private static let known = [1412, 5951, 31442]

    func testThatATinyPictureHasNoneToTell() throws {
        for (width, height) in [(1, 1), (7, 100), (100, 7)] {
            let picture = plane(width, height, noise: 1)
            XCTAssertNil(try VisibleDistance(picture, picture, by: .never), "\(width) × \(height)")
        }
        // One that is too small for the second look has the first.
        XCTAssertGreaterThan(try distance(plane(16, 16, noise: 0), plane(16, 16, noise: 9)), 0)
    }

    func testThatItEndsInTime() throws {
        let picture = plane(400, 600, noise: 1)
        let passed = Deadline(ContinuousClock.now.advanced(by: .seconds(-1)))
        XCTAssertThrowsError(try VisibleDistance(picture, picture, by: passed)) { XCTAssertEqual($0 as? CodecError, .timedOut) }
    }

    func testThatTheLumaOfAllPixelsIsTheSame() throws {
        // Given one gray value in all kinds of pixels, and half transparent, which is half white
        for level in [UInt8(0), 1, 77, 200, 255] {
            let layouts = [
                PixelLayout(width: 9, height: 5, model: .gray), PixelLayout(width: 9, height: 5, model: .rgb),
                PixelLayout(width: 9, height: 5, planarWithSubsampling: 2, 2),
                PixelLayout(width: 9, height: 5, model: .gray, hasAlpha: true),
                PixelLayout(width: 9, height: 5, model: .rgb, hasAlpha: true),
            ]
            for layout in layouts {
                var picture = try PixelBuffer(layout, limits: Limits())
                let channels = layout.planes[0].channels
                for y in 0..<5 {
                    picture.withMutableRow(y) { row in
                        for index in 0..<row.count {
                            row[index] = layout.hasAlpha && index % channels == channels - 1 ? 51 : level
                        }
                    }
                }
                // When
                let luma = try XCTUnwrap(try LumaPlane(picture, by: .never))
                // Then
                let onWhite: Int = (Int(level) * 51 + 255 * 204 + 127) / 255
                let expected = layout.hasAlpha ? UInt8(onWhite) : level
                XCTAssertEqual(luma, LumaPlane(width: 9, height: 5, samples: [UInt8](repeating: expected, count: 45)), "\(layout)")
            }
        }
        // Inks have none.
        let inks = try PixelBuffer(PixelLayout(width: 9, height: 5, model: .cmyk), limits: Limits())
        XCTAssertNil(try LumaPlane(inks, by: .never))
    }

    private static func quarter(_ plane: LumaPlane) -> LumaPlane {
        let (width, height) = (plane.width / 4, plane.height / 4)
        let samples = (0..<width * height).map { place in
            var sum = 8
            for y in 0..<4 {
                for x in 0..<4 { sum += Int(plane.samples[(place / width * 4 + y) * plane.width + place % width * 4 + x]) }
            }
            return UInt8(sum / 16)
        }
        return LumaPlane(width: width, height: height, samples: samples)
    }

    private static func norm(_ left: LumaPlane, _ right: LumaPlane) -> Double {
        var (sum, count) = (0.0, 0.0)
        for top in stride(from: 0, through: left.height / 4 * 4 - 8, by: 4) {
            for start in stride(from: 0, through: left.width / 4 * 4 - 8, by: 4) {
                func window(_ plane: LumaPlane) -> [Double] {
                    (0..<64).map { Double(plane.samples[(top + $0 / 8) * plane.width + start + $0 % 8]) }
                }
                let similarity = structuralSimilarity(window(left), window(right), width: 8, height: 8)
                sum +=
                    min(max(1 - similarity, 0), 1) * min(max(1 - similarity, 0), 1) * min(max(1 - similarity, 0), 1)
                    * min(max(1 - similarity, 0), 1)
                count += 1
            }
        }
        return (sum / count).squareRoot().squareRoot()
    }
}
