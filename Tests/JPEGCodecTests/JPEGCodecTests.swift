import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

final class JPEGCodecTests: XCTestCase {
    func testThatTheCodecConforms() {
        // Given
        let kinds = [
            PixelLayout(width: 1, height: 1, model: .gray), PixelLayout(width: 1, height: 1, model: .rgb),
            PixelLayout(width: 1, height: 1, model: .cmyk), PixelLayout(width: 1, height: 1, planarWithSubsampling: 2, 2),
        ]
        // When
        let report = CodecConformance(JPEGCodec(), encodes: kinds, tolerance: 4, spareTail: 2).run()
        // Then
        XCTAssertEqual(report.failures.map(\.description), [], "\(report)")
    }
}
