import Foundation
import OnesheetCore
import XCTest

@testable import OnesheetServer

/// The administrator's token in the configuration file.
final class AdminTokenTests: XCTestCase {
    func testThatATokenThatCanBeGuessedIsRefused() {
        for (token, reason) in [
            ("x", "has 1 bytes"), ("secret", "has 6 bytes"), ("fifteen-bytes-1", "has 15 bytes"), ("한글한글한", "has 15 bytes"),
            ("\"\"", "is empty"), ("''", "is empty"), ("aaaaaaaaaaaaaaaaaaaaaaaa", "repeats itself"),
            ("0101101001011010", "repeats itself"), ("secretsecretsecretsecret", "repeats itself"),
            ("password-password-pass", "repeats itself"), ("\"1234567890123456\"", "is a sequence"),
            ("abcdefghijklmnopqrst", "is a sequence"),
            ("\"0246802468024680246\"", "repeats itself"), ("9876543210987654a", "is a sequence"),
        ] {
            // When a configuration has such a token
            XCTAssertThrowsError(try parse("token: \(token)"), token) { error in
                // Then the error says why, and how to make a better one, without the token
                let text = "\(error)"
                XCTAssertTrue(text.hasPrefix("admin.token: \(reason)"), text)
                XCTAssertTrue(text.hasSuffix("Make one with `openssl rand -hex 32`"), text)
                if token.utf8.count > 2 { XCTAssertFalse(text.contains(token), text) }
            }
        }
    }

    func testThatARandomTokenIsAccepted() throws {
        for token in [
            "9f86d081884c7d65", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "correct horse battery",
        ] {
            XCTAssertEqual(try parse("token: \"\(token)\"").admin.token, token)
        }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let token = (0..<16).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
            XCTAssertNoThrow(try parse("token: \"\(token)\""), token)
        }
    }

    func testThatAnEmptyVariableIsNoAdministration() throws {
        for environment in [[:], ["TOKEN": ""]] {
            let configuration = try parse("token: \"${TOKEN:-}\"", environment)
            XCTAssertFalse(Administrator(token: configuration.admin.token).isOn)
        }
        XCTAssertFalse(Administrator(token: try parse("token:").admin.token).isOn)
        XCTAssertTrue(Administrator(token: try parse("token: secret-for-tests").admin.token).isOn)
        // And a weak one from a variable is refused too
        XCTAssertThrowsError(try parse("token: \"${TOKEN:-}\"", ["TOKEN": "secret"]))
    }

    private func parse(_ admin: String, _ environment: [String: String] = [:]) throws -> ServerConfiguration {
        try ConfigurationFile(environment: environment).parse("admin:\n  \(admin)\nsources: { s: { type: sample } }")
    }
}
