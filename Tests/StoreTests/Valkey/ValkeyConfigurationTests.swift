import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyCoordinator

final class ValkeyConfigurationTests: XCTestCase {
    func testThatTheSampleConfigurationWorks() throws {
        // Given
        let yaml = ValkeyCoordinator.sampleConfiguration

        // When
        let configuration = try configuration(yaml)
        _ = try ValkeyCoordinator(configuration, context: .forTesting())

        // Then
        XCTAssertEqual(configuration.addresses.map(\.description), ["10.0.0.11:6379", "10.0.0.12:6379", "valkey-3.internal:6379"])
        XCTAssertEqual(configuration.user, "onesheet")
        XCTAssertTrue(configuration.tls)
        XCTAssertEqual(configuration.deadline.seconds, 0.05)
    }

    func testThatOneAddressIsEnough() throws {
        // Given
        let yaml = "addresses: [valkey.internal]"

        // When
        let configuration = try configuration(yaml)

        // Then
        XCTAssertEqual(configuration.addresses, [ValkeyAddress(host: "valkey.internal", port: 6379)])
        XCTAssertEqual(configuration.prefix, "onesheet:")
        XCTAssertFalse(configuration.tls)
        XCTAssertEqual(configuration.deadline.seconds, 0.05)
    }

    func testThatAConfigurationThatCannotBeUsedIsRefused() {
        // Given
        let cases = [
            ("addresses: []", "addresses: needs at least one address such as 10.0.0.1:6379"),
            (
                "addresses: ['redis://a:1']",
                "addresses.[0]: “redis://a:1” is not an address such as 10.0.0.1:6379 or valkey.internal"
            ),
            ("addresses: ['a:0']", "addresses.[0]: “a:0” is not an address such as 10.0.0.1:6379 or valkey.internal"),
            ("tls: true", "“addresses” is missing"), ("addresses: [a]\nuser: me", "user: needs a “password” too"),
            ("addresses: [a]\npassword: ''", "password: is empty"), ("addresses: [a]\nca: x.pem", "ca: needs “tls: true”"),
            (
                "addresses: [a]\nprefix: '{x}'",
                "prefix: “{x}” needs at most 100 bytes and no braces, which decide where a cluster stores a key"
            ),
            ("addresses: [a]\ndeadline: 1m", "deadline: needs to be from 1ms to 10s"),
            ("addresses: [a]\npasword: x", "unknown key “pasword”; did you mean “password”?"),
        ]

        for (yaml, expected) in cases {
            // When
            let make = { try ValkeyCoordinator(try self.configuration(yaml), context: .forTesting()) }

            // Then
            XCTAssertThrowsError(try make(), yaml) { XCTAssertEqual("\($0)", expected) }
        }
    }

    func testThatAMissingFileOfAuthoritiesIsTold() throws {
        // Given
        let yaml = "addresses: [a]\ntls: true\nca: /nowhere/authorities.pem"

        // When
        let make = { try ValkeyCoordinator(try self.configuration(yaml), context: .forTesting()) }

        // Then
        XCTAssertThrowsError(try make()) { XCTAssertTrue("\($0)".hasPrefix("ca: /nowhere/authorities.pem: "), "\($0)") }
    }

    func testThatAddressesOfAllKindsAreRead() {
        // Given
        let cases: [(String, String?)] = [
            ("10.0.0.1:7000", "10.0.0.1:7000"), ("[::1]:7000", "[::1]:7000"), ("[fe80::1]", "[fe80::1]:6379"),
            ("a_b-c.d", "a_b-c.d:6379"),
            ("", nil), (":1", nil), ("a:", nil), ("a:65536", nil), ("a:-1", nil), ("::1", nil), ("[::1", nil), ("[a]:1", nil),
            ("[::1]x", nil),
            ("a b", nil), ("a/b", nil), ("é", nil), ("a:1:2", nil),
        ]

        for (text, expected) in cases {
            // When, then
            XCTAssertEqual(ValkeyAddress(text)?.description, expected, text)
        }
    }

    private func configuration(_ yaml: String) throws -> ValkeyCoordinator.Configuration {
        try ConfigurationDecoder().decode(ValkeyCoordinator.Configuration.self, from: try ConfigurationValue(yaml: yaml))
    }
}
