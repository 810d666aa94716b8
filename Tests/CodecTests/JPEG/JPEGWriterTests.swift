import CJPEG
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

/// The writer's own transform, quantisers and Huffman tables.
final class JPEGWriterTests: XCTestCase {
    private let codec = JPEGCodec()
    private static let sizes = [(1, 1), (7, 9), (8, 8), (17, 33), (64, 16), (75, 53)]
    private static let subsamplings = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)]

    func testEveryProcessorWritesTheSameBytes() throws {
        for (width, height) in Self.sizes {
            let poster = DrawnPoster(width: width, height: height, grain: 9)
            for quality: Int32 in [1, 37, 80, 100] {
                for subsampling in Self.subsamplings {
                    try assertSameBytes(try poster.draw(planes: subsampling), CJPEG_YCBCR) {
                        ($0.quality, $0.subsampling) = (quality, (Int32(subsampling.0), Int32(subsampling.1)))
                    }
                }
                try assertSameBytes(try poster.draw(.gray), CJPEG_GRAY) { $0.quality = quality }
                try assertSameBytes(try poster.draw(), CJPEG_RGB) { ($0.quality, $0.subsampling) = (quality, (2, 2)) }
            }
        }
    }

    private func assertSameBytes(
        _ picture: borrowing PixelBuffer, _ colors: cjpeg_colors, _ change: (inout WrittenJPEG) -> Void,
        line: UInt = #line
    ) throws {
        var kind = WrittenJPEG(colors, change)
        let usual = try kind.file(picture)
        kind.isPortable = true
        XCTAssertEqual(try kind.file(picture), usual, line: line)
    }

    func testTheBestQualityIsNearlyThePicture() throws {
        for (width, height) in Self.sizes {
            let poster = DrawnPoster(width: width, height: height, grain: 9)
            for subsampling in Self.subsamplings {
                let picture = try poster.draw(planes: subsampling)
                let file = try codec.encode(picture, EncodeOptions(quality: 100))
                let outcome = try codec.picture(Array(file.readableBytesView), DecodeRequest(acceptsPlanar: true))
                assertImagesSimilar(outcome, picture, within: 2, message: "\(width) × \(height), \(subsampling)")
            }
            let gray = try poster.draw(.gray)
            let file = try codec.encode(gray, EncodeOptions(quality: 100))
            assertImagesSimilar(try codec.picture(Array(file.readableBytesView)), gray, within: 2)
        }
    }

    func testPixelsBecomeTheSamePlanesAsTheLibrarys() throws {
        for (width, height) in Self.sizes {
            let picture = try DrawnPoster(width: width, height: height, grain: 0).draw()
            let file = try codec.encode(picture, EncodeOptions(quality: 100))
            assertImagesSimilar(
                try codec.picture(Array(file.readableBytesView)), picture, within: 4, message: "\(width) × \(height)")
        }
    }

    /// Noise of the largest amplitude has the largest coefficients, and all Huffman codes.
    func testRandomSamplesOfEverySizeAndQualityAreReadAgain() throws {
        var random = SplitMix(seed: 3)
        for _ in 0..<300 {
            // Given
            let (width, height) = (Int.random(in: 1...70, using: &random), Int.random(in: 1...70, using: &random))
            let subsampling = Self.subsamplings[Int.random(in: 0..<6, using: &random)]
            let quality = Int.random(in: 1...100, using: &random)
            let mask: UInt8 = Bool.random(using: &random) ? 0x80 : 0xFF
            let layout = PixelLayout(width: width, height: height, planarWithSubsampling: subsampling.0, subsampling.1)
            var picture = try PixelBuffer(layout, limits: Limits())
            for (plane, shape) in layout.planes.enumerated() {
                for y in 0..<shape.height {
                    picture.withMutableRow(y, plane: plane) { row in
                        for x in row.indices { row[x] = UInt8.random(in: 0...255, using: &random) & mask }
                    }
                }
            }
            // When
            let file = Array(try codec.encode(picture, EncodeOptions(quality: quality)).readableBytesView)
            // Then
            let outcome = try codec.picture(file, DecodeRequest(acceptsPlanar: true))
            XCTAssertEqual([outcome.layout.width, outcome.layout.height], [width, height])
            if quality == 100 { assertImagesSimilar(outcome, picture, within: 3) }
        }
    }

    func testEachStepOfQualityIsALargerFile() throws {
        let picture = try DrawnPoster(width: 256, height: 256, grain: 6).draw(planes: (2, 2))
        let sizes = try stride(from: 5, through: 100, by: 5).map {
            try codec.encode(picture, EncodeOptions(quality: $0)).readableBytes
        }
        XCTAssertEqual(sizes, sizes.sorted())
        XCTAssertLessThan(sizes[0] * 5, sizes[19])
    }
}
