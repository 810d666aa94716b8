import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetImaging

final class PerceptualHashTests: XCTestCase {
    private let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())

    func testThatCopiesOfAPictureLookTheSame() throws {
        for seed in 1...4 as ClosedRange<UInt32> {
            // Given a poster, and copies in a smaller size, lower quality and another format
            let original = try hash(DrawnPoster(width: 200, height: 300, seed: seed).file(JPEGCodec()))
            let copies = [
                try DrawnPoster(width: 200, height: 300, seed: seed).file(
                    JPEGCodec(), .rgb, hasAlpha: false, planes: nil, options: EncodeOptions(quality: 30)),
                try DrawnPoster(width: 200, height: 300, seed: seed).file(PNGCodec()),
                try DrawnPoster(width: 200, height: 300, seed: seed).file(JPEGCodec(), .gray),
                try small(DrawnPoster(width: 200, height: 300, seed: seed).file(JPEGCodec())),
            ]
            for copy in copies {
                // When they are hashed
                let seen = try hash(copy)
                // Then they match
                XCTAssertTrue(original.isSamePicture(as: seen), "\(seed): \(original.distance(to: seen))")
            }
        }
    }

    func testThatOtherPicturesLookDifferent() throws {
        // Given six posters
        let hashes = try (1...6).map { try hash(DrawnPoster(width: 100, height: 150, seed: $0).file(JPEGCodec())) }
        // Then no two match
        for (index, first) in hashes.enumerated() {
            for second in hashes[(index + 1)...] {
                XCTAssertFalse(first.isSamePicture(as: second), "\(first.distance(to: second))")
            }
        }
    }

    func testBlackShapesOnATransparentGroundDiffer() throws {
        // Given two black logos
        let shapes: [(Int, Int) -> Bool] = [{ x, _ in x % 3 == 0 }, { x, y in (x + y) % 4 < 2 }]
        let hashes = try shapes.map { isBlack in
            var picture = try PixelBuffer(PixelLayout(width: 9, height: 8, model: .rgb, hasAlpha: true), limits: Limits())
            for y in 0..<8 {
                picture.withMutableRow(y) { row in
                    for x in 0..<9 where isBlack(x, y) { row[4 * x + 3] = 255 }
                }
            }
            return PerceptualHash(picture)
        }
        // Then they are different pictures
        XCTAssertFalse(hashes[0].isSamePicture(as: hashes[1]), "\(hashes)")
    }

    func testThatTheSmallestPictureHasAHash() throws {
        XCTAssertEqual(try hash(DrawnPoster(width: 1, height: 1).file(PNGCodec())).bits, 0)
    }

    func testThatWhatIsNoPictureHasNone() {
        XCTAssertThrowsError(try renderer.hash(of: renderer.open(ByteBuffer(string: "<html>")))) {
            XCTAssertEqual($0 as? RenderError, .foreignFormat(.html))
        }
        XCTAssertThrowsError(try renderer.hash(of: renderer.open(ByteBuffer(string: "text")))) {
            XCTAssertEqual($0 as? RenderError, .unrecognizedFormat)
        }
    }

    func testThatTheTextIsReadAsItIsWritten() {
        let hash = PerceptualHash(bits: 0x00AB_CDEF_0123_4567)
        XCTAssertEqual("\(hash)", "00abcdef01234567")
        XCTAssertEqual(PerceptualHash("00abcdef01234567"), hash)
        for text in ["", "0", "00abcdef0123456g", "00abcdef012345678", "-0abcdef01234567", "+0abcdef01234567"] {
            XCTAssertNil(PerceptualHash(text), text)
        }
    }

    private func hash(_ file: [UInt8]) throws -> PerceptualHash { try renderer.hash(of: renderer.open(ByteBuffer(bytes: file))) }

    private func small(_ file: [UInt8]) throws -> [UInt8] {
        var transform = Transform()
        transform.width = 92
        return Array(try renderer.render(ByteBuffer(bytes: file), as: transform).body.readableBytesView)
    }
}
