import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import S3Store
import XCTest

final class S3ConfigurationTests: XCTestCase {
    private func store(_ yaml: String) throws -> S3Store {
        let value = try ConfigurationValue(yaml: yaml)
        return try S3Store(try ConfigurationDecoder().decode(S3Store.Configuration.self, from: value), context: .forTesting())
    }

    func testThatTheSampleConfigurationWorks() throws {
        // Given
        let yaml = S3Store.sampleConfiguration

        // When
        let make = { try self.store(yaml) }

        // Then
        XCTAssertNoThrow(try make())
    }

    func testThatAllKeysOfTheSampleAreRead() throws {
        // Given
        let yaml = S3Store.sampleConfiguration.replacing("# endpoint:", with: "endpoint:").replacing(
            "# sessionToken", with: "sessionToken"
        )
        .replacing("# pathStyle", with: "pathStyle")

        // When
        let read = try ConfigurationDecoder().decode(S3Store.Configuration.self, from: try ConfigurationValue(yaml: yaml))

        // Then
        XCTAssertEqual(read.endpoint, "http://10.0.0.5:8333")
        XCTAssertEqual(read.region, "eu-central-1")
        XCTAssertEqual(read.sessionToken, "${S3_SESSION_TOKEN}")
        XCTAssertEqual(read.pathStyle, true)
        XCTAssertEqual(read.deadline, Interval(.seconds(2)))
    }

    func testThatAnErrorNamesItsKey() {
        // Given
        let valid = ["bucket": "onesheet", "accessKey": "a", "secretKey": "s"]
        let cases: [(String, String)] = [
            ("bucket", "No"), ("bucket", "a..b"), ("bucket", "-ab"), ("bucket", "a/b"), ("region", "EU West"), ("region", "\"\""),
            ("endpoint", "s3.example"), ("endpoint", "ftp://s3.example"), ("endpoint", "https://s3.example?x=1"),
            ("endpoint", "https://user@s3.example"), ("accessKey", "\"\""), ("secretKey", "\"\""), ("secretKey", "hidden text"),
            ("secretKey", "\"a\\nb\""), ("sessionToken", "\"\""), ("deadline", "0s"), ("deadline", "2h"), ("unknown", "1"),
        ]

        for (key, text) in cases {
            // When
            let yaml = valid.merging([key: text]) { $1 }.map { "\($0): \($1)" }.joined(separator: "\n")

            // Then
            XCTAssertThrowsError(try store(yaml), "\(key): \(text)") {
                XCTAssertTrue("\($0)".contains(key), "\($0)")
                XCTAssertFalse("\($0)".contains("hidden"), "the error shows the secret: \($0)")
            }
        }
    }

    func testThatAddressesFollowTheStyle() throws {
        // Given
        func address(_ endpoint: String?, _ bucket: String, pathStyle: Bool? = nil, region: String = "eu-central-1") throws
            -> S3Address
        {
            try S3Address(endpoint: endpoint, bucket: bucket, region: region, pathStyle: pathStyle)
        }

        // When
        let amazon = try address(nil, "films")
        let dotted = try address(nil, "films.example", pathStyle: true)
        let china = try address(nil, "films", region: "cn-north-1")
        let own = try address("http://10.0.0.5:9000/", "films")
        let below = try address("https://x.example:443/storage/s3", "films", pathStyle: false)
        let six = try address("http://[::1]:8333", "films")

        // Then
        XCTAssertEqual(amazon.origin + amazon.path(of: "a/b"), "https://films.s3.eu-central-1.amazonaws.com/a/b")
        XCTAssertEqual(dotted.origin + dotted.path(of: "a"), "https://s3.eu-central-1.amazonaws.com/films.example/a")
        XCTAssertEqual(china.host, "films.s3.cn-north-1.amazonaws.com.cn")
        XCTAssertEqual(own.origin + own.path(of: "포 +/%"), "http://10.0.0.5:9000/films/%ED%8F%AC%20%2B/%25")
        XCTAssertEqual(below.origin + below.path(of: "a"), "https://films.x.example/storage/s3/a")
        XCTAssertEqual(six.host, "[::1]:8333")
        XCTAssertEqual(amazon.path, "/")
        XCTAssertEqual(own.path, "/films")
        XCTAssertThrowsError(try address(nil, "films.example")) { XCTAssertTrue("\($0)".contains("pathStyle")) }
        XCTAssertThrowsError(try address("http://10.0.0.5:9000", "films", pathStyle: false)) {
            XCTAssertTrue("\($0)".contains("pathStyle"))
        }
    }

    func testThatANameThatSomeStoreChangesIsRefused() {
        // Given
        let refused = [
            "", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\nb", "a\0", "a\\b", "a\u{7F}", "a\u{85}", "a\u{FFFE}",
            String(repeating: "x", count: 1025),
        ]
        let accepted = ["a", "a.b", "...", "a b", "a+b", "a%2Fb", "포스터/🎬", "e\u{301}", String(repeating: "x", count: 1024)]

        // When
        let wrong = refused.filter { S3Address.isObjectName($0) } + accepted.filter { !S3Address.isObjectName($0) }

        // Then
        XCTAssertEqual(wrong, [])
    }
}
