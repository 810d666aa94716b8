import GIFCodec
import OnesheetTesting
import XCTest

final class GIFCodecConformanceTests: XCTestCase {
    func testThatTheDecoderKeepsEveryRule() {
        // Given
        var commented = DrawnGIF(width: 17, height: 9, transparent: 5)
        commented.before = [0x21, 0xFE] + DrawnGIF.blocks([UInt8](repeating: 65, count: 300))
        let drawings = [
            DrawnGIF(width: 33, height: 21), DrawnGIF(width: 33, height: 21, isInterlaced: true, depth: 8),
            DrawnGIF(width: 9, height: 7, place: (2, 3), canvas: (20, 12), depth: 1), commented,
        ]
        // The empty block at the end of the frame and the trailer may be missing.
        let conformance = CodecConformance(decoder: GIFCodec(), files: drawings.map(\.file), spareTail: 2, damages: 200)

        // When
        let report = conformance.run()

        // Then
        XCTAssertEqual(report.failures, [], "\(report)")
    }
}
