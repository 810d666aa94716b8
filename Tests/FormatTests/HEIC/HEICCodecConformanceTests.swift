#if HEIC
    import FormatFixtures
    import HEICCodec
    import OnesheetTesting
    import XCTest

    final class HEICCodecConformanceTests: XCTestCase {
        func testThatTheDecoderKeepsEveryRule() {
            // Given a picture, one with alpha, and grids
            let drawings = [
                DrawnHEIC(width: 64, height: 64), DrawnHEIC(width: 64, height: 64, hasAlpha: true),
                DrawnHEIC(width: 33, height: 21),
            ]
            let grid = DrawnHEICGrid(columns: 2, rows: 2, width: 100, height: 90).file
            let conformance = CodecConformance(decoder: HEICCodec(), files: drawings.map(\.file) + [grid], damages: 40)

            // When
            let report = conformance.run()

            // Then
            XCTAssertEqual(report.failures, [], "\(report)")
        }
    }
#endif
