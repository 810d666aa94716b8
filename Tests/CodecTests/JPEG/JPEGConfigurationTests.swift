import JPEGCodec
import OnesheetCore
import OnesheetTesting
import XCTest

final class JPEGConfigurationTests: XCTestCase {
    private func decode(_ keys: [String: String]) throws -> JPEGCodec.Configuration {
        try ConfigurationDecoder().decode(
            JPEGCodec.Configuration.self, from: .mapping(keys.mapValues { ConfigurationValue.scalar($0) }))
    }

    func testThatNothingNeedBeSaid() throws {
        let configuration = try decode([:])
        XCTAssertFalse(configuration.progressive)
        XCTAssertFalse(configuration.optimize)
    }

    func testThatProgressiveFilesAreWrittenWhereAsked() throws {
        // Given
        let codec = JPEGCodec(try decode(["progressive": "true"]))
        // When
        let file = try DrawnPoster(width: 64, height: 64).file(codec)
        // Then
        XCTAssertTrue(try codec.header(of: file.span).isProgressive)
    }

    func testThatOptimizedFilesAreSmaller() throws {
        let poster = DrawnPoster(width: 128, height: 128)
        let plain = try poster.file(JPEGCodec())
        let optimized = try poster.file(JPEGCodec(try decode(["optimize": "true"])))
        XCTAssertLessThan(optimized.count, plain.count)
    }

    func testThatAnUnknownKeyIsRefused() {
        XCTAssertThrowsError(try decode(["progresive": "true"]))
    }

    func testThatTheSampleNamesEveryKey() {
        XCTAssertTrue(JPEGCodec.sampleConfiguration.contains("progressive:"))
        XCTAssertTrue(JPEGCodec.sampleConfiguration.contains("optimize:"))
    }
}
