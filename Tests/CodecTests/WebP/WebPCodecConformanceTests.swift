import OnesheetCore
import OnesheetTesting
import WebPCodec
import XCTest

final class WebPCodecConformanceTests: XCTestCase {
    private func check(_ codec: WebPCodec, tolerance: Double) {
        // Given
        let kinds = [ColorModel.gray, .rgb].flatMap { model in
            [false, true].map { PixelLayout(width: 1, height: 1, model: model, hasAlpha: $0) }
        }
        // A chunk of odd length has a padding byte.
        let conformance = CodecConformance(
            codec, encodes: kinds, tolerance: tolerance, profile: [UInt8](1...255), spareTail: 1,
            damages: 100)

        // When
        let report = conformance.run()

        // Then
        XCTAssertEqual(report.failures, [], "\(report)")
    }

    func testThatTheCodecKeepsEveryRule() { check(WebPCodec(), tolerance: 4) }

    func testThatTheLosslessCodecKeepsEveryRule() { check(WebPCodec(lossless: true), tolerance: 0) }
}
