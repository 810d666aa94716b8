import Foundation
import OnesheetAddress
import OnesheetCore
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// The keys that a server makes for itself.
final class KeptKeysTests: ServerTestCase {
    func testKeysAreMadeOnceIfStrangersCanReachTheServer() throws {
        // Given a folder, and a server that other machines can reach
        let folder = folder()
        let text = "listen: 0.0.0.0:1\ncache: { disk: { path: \"\(folder)\" } }"
        // When it starts twice
        let first = try read(text, .needed)
        let second = try read(text, .needed)
        // Then the first start makes keys, says so, and the second uses them
        XCTAssertEqual(first.signing.keys.first?.key.count, 32)
        XCTAssertEqual(first.signing.keys.first?.key, second.signing.keys.first?.key)
        XCTAssertEqual(first.signing.keys.first?.salt, second.signing.keys.first?.salt)
        XCTAssertEqual(first.admin.token, second.admin.token)
        XCTAssertEqual(first.admin.token?.utf8.count, 64)
        XCTAssertTrue(first.notes.contains { $0.contains("\(folder)/keys") }, "\(first.notes)")
        XCTAssertFalse(second.notes.contains { $0.contains("/keys") }, "\(second.notes)")
        XCTAssertNoThrow(try second.requireProtection())
        // And only the owner can read them
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/keys")
        XCTAssertEqual(attributes[.posixPermissions] as? Int, 0o600)
        // And the folder is still one for a cache
        XCTAssertNoThrow(try Server(second, .standard, logger: RunningServer.silent))
    }

    func testNoKeysAreMadeWithoutNeed() throws {
        let disk = "cache: { disk: { path: \"\(folder())\" } }\n"
        let table: [(String, KeptKeys.Use)] = [
            ("listen: 127.0.0.1:1", .needed), ("listen: 0.0.0.0:1\npresetsOnly: true", .needed),
            ("listen: 0.0.0.0:1\nsigning: { keys: [{ key: \"00\", salt: \"01\" }] }", .needed),
            ("listen: 0.0.0.0:1", .supposed), ("listen: 0.0.0.0:1", .present), ("listen: 0.0.0.0:1", .signing),
            ("listen: 0.0.0.0:1\nlog: { level: loud }", .needed),
        ]
        for (text, use) in table {
            let configuration = try read(disk + text, use)
            XCTAssertNil(try KeptKeys(in: configuration.cache.disk.path).read(), text)
        }
    }

    func testMadeKeysAreUsedWhereTheyAreNeeded() throws {
        // Given keys that a server has made
        let folder = folder()
        let disk = "cache: { disk: { path: \"\(folder)\" } }\n"
        let keys = try KeptKeys(in: folder).make()
        XCTAssertEqual(try KeptKeys(in: folder).make(), keys)
        // Then a command that signs uses them, and a server that only this machine reaches does not
        XCTAssertFalse(try read(disk, .signing).signing.hasNoKeys)
        XCTAssertTrue(try read(disk, .needed).signing.hasNoKeys)
        XCTAssertTrue(try read(disk, .present).signing.hasNoKeys)
        // And what is printed for a public one can be read again
        let printed = try read(disk + "listen: 0.0.0.0:1", .present).yaml
        XCTAssertTrue(printed.contains("${ONESHEET_SIGNING_KEY}"), printed)
        XCTAssertEqual(try read(printed, .needed).yaml, printed)
        // And a token that is set to be empty is none
        XCTAssertNil(try read(disk + "listen: 0.0.0.0:1", .needed, ["ONESHEET_ADMIN_TOKEN": ""]).admin.token)
    }

    func testEmptyVariableCountsAsUnset() throws {
        let text = "listen: 0.0.0.0:1\ncache: { disk: { path: \"\(folder())\" } }"
        let empty = ["ONESHEET_SIGNING_KEY": "", "ONESHEET_SIGNING_SALT": ""]
        let made = try read(text, .needed, empty)
        XCTAssertFalse(made.signing.hasNoKeys)
        XCTAssertEqual(try read(text, .needed, empty).signing.keys.first?.key, made.signing.keys.first?.key)
        // And a key of one's own is never used with the salt that was made
        XCTAssertTrue(try read(text, .needed, ["ONESHEET_SIGNING_KEY": "00"]).signing.hasNoKeys)
    }

    func testKeysThatWouldNotBeUsedAreNotMade() throws {
        let folder = folder()
        let configuration = try read(
            "listen: 0.0.0.0:1\nsigning: { keys: [] }\ncache: { disk: { path: \"\(folder)\" } }", .needed)
        XCTAssertTrue(configuration.signing.hasNoKeys)
        XCTAssertEqual(configuration.notes.filter { $0.contains("Made keys") }, [])
        XCTAssertNil(try KeptKeys(in: folder).read())
    }

    func testADamagedFileIsNamed() throws {
        let folder = folder()
        _ = try KeptKeys(in: folder).make()
        try Data("ONESHEET_SIGNING_KEY=00\n".utf8).write(to: URL(filePath: "\(folder)/keys"))
        XCTAssertThrowsError(try read("listen: 0.0.0.0:1\ncache: { disk: { path: \"\(folder)\" } }", .needed)) {
            XCTAssertTrue("\($0)".contains("\(folder)/keys has no ONESHEET_SIGNING_SALT"), "\($0)")
        }
    }

    private func read(_ text: String, _ use: KeptKeys.Use, _ environment: [String: String] = [:]) throws -> ServerConfiguration {
        try use.applied { kept, usesThem in
            try ConfigurationFile(environment: environment, kept: kept, usesThem: usesThem).examine(text: text, file: nil)
        }.configuration
    }
}
