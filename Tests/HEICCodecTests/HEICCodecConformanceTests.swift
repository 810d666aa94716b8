#if HEIC
    import FormatFixtures
    import HEICCodec
    import OnesheetTesting
    import XCTest

    final class HEICCodecConformanceTests: XCTestCase {
        func testThatTheDecoderKeepsEveryRule() {
            // Given a picture, one with alpha, and a grid
            let drawings = [
                DrawnHEIC(width: 64, height: 64), DrawnHEIC(width: 64, height: 64, hasAlpha: true),
                DrawnHEIC(width: 33, height: 21),
            ]
            let conformance = CodecConformance(decoder: HEICCodec(), files: drawings.map(\.file), damages: 40)

            // When
            let report = conformance.run()

            // Then
            XCTAssertEqual(report.failures, [], "\(report)")
        }
    }
#endif
