import AVIFCodec
import OnesheetCore
import OnesheetTesting
import XCTest

final class AVIFCodecConformanceTests: XCTestCase {
    func testThatTheCodecKeepsEveryRule() {
        // Given
        let kinds = [ColorModel.gray, .rgb].flatMap { model in
            [false, true].map { PixelLayout(width: 1, height: 1, model: model, hasAlpha: $0) }
        }
        let conformance = CodecConformance(
            AVIFCodec(effort: 0), encodes: kinds, tolerance: 4, profile: [UInt8](1...255), damages: 20)

        // When
        let report = conformance.run()

        // Then
        XCTAssertEqual(report.failures, [], "\(report)")
    }
}
