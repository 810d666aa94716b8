#if JXL
    import FormatFixtures
    import JPEGXLCodec
    import OnesheetTesting
    import XCTest

    final class JPEGXLCodecConformanceTests: XCTestCase {
        func testThatTheDecoderKeepsEveryRule() {
            // Given
            let drawings = [
                DrawnJPEGXL(width: 33, height: 21), DrawnJPEGXL(width: 33, height: 21, isLossless: false),
                DrawnJPEGXL(width: 33, height: 21, hasAlpha: true, isLossless: false),
                DrawnJPEGXL(width: 9, height: 7, isGray: true, hasAlpha: true),
            ]
            let conformance = CodecConformance(decoder: JPEGXLCodec(), files: drawings.map(\.file), damages: 40)

            // When
            let report = conformance.run()

            // Then
            XCTAssertEqual(report.failures, [], "\(report)")
        }
    }
#endif
