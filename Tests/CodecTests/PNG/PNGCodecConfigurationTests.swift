import OnesheetCore
import OnesheetTesting
import XCTest

@testable import PNGCodec

final class PNGCodecConfigurationTests: XCTestCase {
    private func configuration(_ keys: [String: ConfigurationValue]) throws -> PNGCodec.Configuration {
        try ConfigurationDecoder().decode(PNGCodec.Configuration.self, from: .mapping(keys))
    }

    func testThatTheSampleIsUnderstood() throws {
        // Given the lines of the sample, which has no nesting
        let lines = PNGCodec.sampleConfiguration.split(separator: "\n").filter { !$0.hasPrefix("#") }
        var keys = Dictionary(
            uniqueKeysWithValues: lines.map { line -> (String, ConfigurationValue) in
                let parts = line.split(separator: ": ", maxSplits: 1)
                return (String(parts[0]), .scalar(String(parts[1])))
            })

        // When
        let type = keys.removeValue(forKey: "type")
        let configuration = try configuration(keys)

        // Then
        XCTAssertEqual(type, .scalar(PNGCodec.type))
        XCTAssertEqual(configuration.effort, 2)
        XCTAssertEqual(configuration.onlyLibpng, false)
    }

    func testThatNothingNeedsToBeSet() throws {
        XCTAssertNoThrow(try PNGCodec(try configuration([:]), context: .forTesting()))
    }

    func testThatAnEffortOutOfRangeIsNamed() throws {
        // Given
        let configuration = try configuration(["effort": .scalar("12")])

        // Then
        XCTAssertThrowsError(try PNGCodec(configuration, context: .forTesting())) {
            XCTAssertEqual($0 as? ConfigurationError, ConfigurationError(path: "effort", message: "“12” is not 0 to 9"))
        }
    }

    func testThatAKeyOfFormerVersionsIsUnderstood() throws {
        for (size, onlyLibpng) in [("0", true), ("32MiB", false)] {
            let codec = try PNGCodec(try configuration(["inflateAtOnce": .scalar(size)]), context: .forTesting())
            XCTAssertEqual(codec.onlyLibpng, onlyLibpng, size)
        }
    }

    func testThatAnUnknownKeyIsNamed() {
        XCTAssertThrowsError(try configuration(["efort": .scalar("3")])) {
            XCTAssertTrue("\($0)".contains("efort"), "\($0)")
        }
    }
}
