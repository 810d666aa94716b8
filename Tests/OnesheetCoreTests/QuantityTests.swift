import OnesheetCore
import XCTest

final class QuantityTests: XCTestCase {
    func testThatLengthsOfTimeAreRead() {
        // Given
        let cases: [(String, Duration?)] = [
            ("500ms", .milliseconds(500)), ("10s", .seconds(10)), ("5m", .seconds(300)), ("2h", .seconds(7200)),
            ("7d", .seconds(604_800)),
            ("1.5s", .milliseconds(1500)), ("0s", .zero), ("10", nil), ("s", nil), ("", nil), ("-1s", nil), ("infs", nil),
            ("nans", nil),
            ("1e300d", nil), ("10 s", nil), ("10sec", nil),
        ]

        for (text, expected) in cases {
            // When
            let interval = Interval(text)

            // Then
            XCTAssertEqual(interval?.duration, expected, text)
        }
        XCTAssertEqual(Interval(.milliseconds(1500)).seconds, 1.5)
    }

    func testThatSizesAreRead() {
        // Given
        let cases: [(String, Int?)] = [
            ("4096", 4096), ("64KiB", 65_536), ("256MiB", 268_435_456), ("10GiB", 10_737_418_240), ("1TiB", 1_099_511_627_776),
            ("10MB", 10_000_000), ("2KB", 2000), ("1GB", 1_000_000_000), ("1TB", 1_000_000_000_000), ("7B", 7), ("1.5KiB", 1536),
            ("", nil),
            ("MiB", nil), ("-1", nil), ("10mib", nil), ("9999999999TB", nil), ("inf", nil), ("nan", nil),
        ]

        for (text, expected) in cases {
            // When
            let size = ByteSize(text)

            // Then
            XCTAssertEqual(size?.bytes, expected, text)
        }
    }

    func testThatCountsAreRead() throws {
        // Given
        let texts = ["500", "64M", "2k", "1G", "0"]

        // When
        let counts = try texts.map { try ConfigurationDecoder().decode(Count.self, from: .scalar($0)).value }

        // Then
        XCTAssertEqual(counts, [500, 64_000_000, 2000, 1_000_000_000, 0])
    }

    func testThatCountsThatDoNotFitAreRefused() {
        // Given
        let texts = ["", "M", "-1", "1.5M", "1000000000000G", "99999999999999999999"]

        for text in texts {
            // When
            let decode = { try ConfigurationDecoder().decode(Count.self, from: .scalar(text)) }

            // Then
            XCTAssertThrowsError(try decode(), text)
        }
    }
}
