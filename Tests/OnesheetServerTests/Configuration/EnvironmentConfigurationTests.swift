import Foundation
import OnesheetAddress
import OnesheetCore
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// What a server without a configuration file serves.
final class EnvironmentConfigurationTests: XCTestCase {
    func testVariablesOpenSources() throws {
        let all = ["TMDB_TOKEN": "t", "KOBIS_KEY": "k", "KAKAO_KEY": "a", "FANART_KEY": "f", "TMDB_KEY": "3"]
        let table: [([String], [String])] = [
            ([], ["sample"]), (["TMDB_TOKEN"], ["tmdb"]), (["KOBIS_KEY", "KAKAO_KEY"], ["boxoffice"]), (["FANART_KEY"], ["fanart"]),
            (["TMDB_TOKEN", "KOBIS_KEY", "KAKAO_KEY", "FANART_KEY"], ["tmdb", "boxoffice", "fanart"]), (["KAKAO_KEY"], ["sample"]),
            (["TMDB_KEY"], ["tmdb"]), (["TMDB_KEY", "TMDB_TOKEN"], ["tmdb"]),
        ]
        for (names, sources) in table {
            // Given some of the variables
            let environment = all.filter { names.contains($0.key) }
            // When there is no file
            let configuration = try ConfigurationFile(environment: environment).parse("")
            // Then they open their sources, and none opens the sample, which says what would
            XCTAssertEqual(configuration.sourceNames, sources)
            XCTAssertEqual(configuration.notes.contains { $0.contains("TMDB_TOKEN") }, sources == ["sample"], "\(names)")
            XCTAssertEqual(
                try ConfigurationCheck.errors(of: configuration, .standard, besides: [], logger: RunningServer.silent), [])
        }
    }

    func testHalfOfTheKeysIsSaid() throws {
        let configuration = try ConfigurationFile(environment: ["KOBIS_KEY": "k", "KAKAO_KEY": "", "TMDB_TOKEN": "t"]).parse("")
        XCTAssertEqual(configuration.notes, ["“boxoffice” is not served: it needs KAKAO_KEY too"])
    }

    func testVariablesFillMissingKeys() throws {
        // Given variables for every key
        let environment = [
            "ONESHEET_LISTEN": "127.0.0.1:81", "ONESHEET_CACHE": "/a", "ONESHEET_ADMIN_TOKEN": "a token for the tests",
            "ONESHEET_SIGNING_KEY": "0a", "ONESHEET_SIGNING_SALT": "0b", "TMDB_TOKEN": "t",
        ]
        let file = ConfigurationFile(environment: environment)
        // When there is no file, then all of them count
        let alone = try file.parse("")
        XCTAssertEqual(alone.listen, .host("127.0.0.1", port: 81))
        XCTAssertEqual(alone.cache.disk.path, "/a")
        XCTAssertEqual(alone.admin.token, "a token for the tests")
        XCTAssertEqual(alone.signing.keys.first?.salt, [11])
        // And with a file, its own keys count, and its sources alone
        let both = try file.parse("listen: 127.0.0.1:82\ncache: { disk: { bytes: 1GiB } }\nsources: { s: { type: sample } }")
        XCTAssertEqual(both.listen, .host("127.0.0.1", port: 82))
        XCTAssertEqual(both.cache.disk.path, "/a")
        XCTAssertEqual(both.cache.disk.bytes.bytes, 1 << 30)
        XCTAssertEqual(both.signing.keys.first?.key, [10])
        XCTAssertEqual(both.sourceNames, ["s"])
        XCTAssertEqual(both.notes, [])
        // And what is printed starts the same server without showing a secret
        let printed = alone.yaml
        XCTAssertTrue(printed.contains("${TMDB_TOKEN}") && printed.contains("${ONESHEET_ADMIN_TOKEN}"), printed)
        XCTAssertFalse(printed.contains("a token for the tests"), printed)
        XCTAssertEqual(try ConfigurationFile(environment: environment).parse(printed).yaml, printed)
    }

    func testAFileWithOneKeyStarts() throws {
        let configuration = try ConfigurationFile(environment: [:]).parse("listen: 127.0.0.1:9")
        XCTAssertEqual(configuration.sourceNames, ["sample"])
    }

    func testAMistakeNamesItsVariable() throws {
        let table: [([String: String], String)] = [
            (["ONESHEET_LISTEN": "here"], "ONESHEET_LISTEN: listen: “here” is not an address"),
            (["ONESHEET_ADMIN_TOKEN": "short"], "ONESHEET_ADMIN_TOKEN: admin.token: has 5 bytes"),
            (
                ["ONESHEET_SIGNING_KEY": "0a"],
                "ONESHEET_SIGNING_KEY: signing.keys.[0].salt: the environment variable ONESHEET_SIGNING_SALT is not set"
            ),
        ]
        for (environment, words) in table {
            XCTAssertThrowsError(try ConfigurationFile(environment: environment).parse("# A comment")) {
                XCTAssertTrue("\($0)".hasPrefix(words), "\($0)")
            }
            let (_, errors) = try ConfigurationFile(environment: environment).examine(
                text: "\nlog: { level: loud }", file: "a.yaml")
            XCTAssertEqual(
                errors.map { "\($0)".hasPrefix(words) || "\($0)".hasPrefix("a.yaml:2:15: log.level") }, [true, true], "\(errors)")
        }
    }
}
