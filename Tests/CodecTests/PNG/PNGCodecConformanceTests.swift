import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

final class PNGCodecConformanceTests: XCTestCase {
    private func check(_ codec: PNGCodec) {
        // Given
        var drawn = DrawnPNG.everyKind.filter { $0.transparency != nil && [2, 8].contains($0.depth) }
        drawn += drawn.map {
            var interlaced = $0
            interlaced.isInterlaced = true
            return interlaced
        }
        let kinds = [ColorModel.gray, .rgb].flatMap { model in
            [false, true].map { PixelLayout(width: 1, height: 1, model: model, hasAlpha: $0) }
        }
        let conformance = CodecConformance(
            codec, encodes: kinds, files: drawn.map(\.file), profile: PNGCodecHeaderTests.profile,
            // The end of the stream with its checksum, the checksum of its chunk, and IEND may be missing.
            spareTail: 24)

        // When
        let report = conformance.run()

        // Then
        XCTAssertEqual(report.failures, [], "\(report)")
    }

    func testThatTheCodecKeepsEveryRule() { check(PNGCodec()) }

    func testThatTheCodecKeepsEveryRuleWithoutTheFastPath() { check(PNGCodec(onlyLibpng: true)) }
}
