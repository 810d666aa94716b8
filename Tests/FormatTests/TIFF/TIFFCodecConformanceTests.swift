#if TIFF
    import FormatFixtures
    import OnesheetTesting
    import TIFFCodec
    import XCTest

    final class TIFFCodecConformanceTests: XCTestCase {
        func testThatTheDecoderKeepsEveryRule() {
            // Given
            var separate = DrawnTIFF(width: 33, height: 21, compression: .deflate)
            separate.isSeparate = true
            var tiled = DrawnTIFF(width: 33, height: 21, alpha: .straight, compression: .packBits)
            tiled.tile = (16, 16)
            let drawings = [
                DrawnTIFF(width: 33, height: 21), DrawnTIFF(width: 9, height: 7, .palette, bits: 4, compression: .none),
                DrawnTIFF(width: 33, height: 21, .cmyk, compression: .jpeg), separate, tiled,
                DrawnTIFF(width: 33, height: 21, .white0, bits: 1, compression: .fax4),
            ]
            let conformance = CodecConformance(decoder: TIFFCodec(), files: drawings.map(\.file), damages: 100)

            // When
            let report = conformance.run()

            // Then
            XCTAssertEqual(report.failures, [], "\(report)")
        }
    }
#endif
