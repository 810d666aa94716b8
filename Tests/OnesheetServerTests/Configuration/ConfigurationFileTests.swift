import OnesheetAddress
import OnesheetCore
import XCTest

@testable import OnesheetServer

final class ConfigurationFileTests: XCTestCase {
    func testThatAHiddenSecretIsNoSecret() {
        for (yaml, path) in [
            ("admin: { token: (secret) }", "admin.token"), ("signing: { thumborKeys: [\"(secret)\"] }", "signing.thumborKeys.[0]"),
            ("sources: { k: { type: kakao, key: (secret) } }", "sources.k.key"),
        ] {
            XCTAssertThrowsError(try ConfigurationFile(environment: [:]).parse(yaml)) { error in
                XCTAssertEqual((error as? ConfigurationError)?.path, path, "\(error)")
                XCTAssertTrue("\(error)".contains("config print"), "\(error)")
            }
        }
    }

    func testThatDESIGNsExampleIsRead() throws {
        // Given the configuration in the documentation
        let text = """
            listen: 127.0.0.1:8080
            cache:
              memory: { bytes: 256MiB, expires: 5m }
              disk: { path: /var/cache/onesheet, bytes: 10GiB, expires: 7d }
            signing: { keys: [{ key: "${ONESHEET_SIGNING_KEY}", salt: "${ONESHEET_SIGNING_SALT}" }], unsafe: false }   # hex
            admin: { token: "${ONESHEET_ADMIN_TOKEN}" }
            limits: { originBytes: 32MiB, pixels: 64M, outputPixels: 32M, originTimeout: 10s, workers: 2, queue: 64 }
            presets: { card: "rs:fill:342:513/q:75" }
            sources:
              boxoffice: { type: boxoffice, key: "${KOBIS_KEY}", posters: { type: kakao, key: "${KAKAO_KEY}" } }
              web: { type: remote, allow: ["https://images.example.com/"], networks: [public] }
              art: { type: folder, path: ./posters }
            """
        let environment = [
            "ONESHEET_SIGNING_KEY": "0a0b", "ONESHEET_SIGNING_SALT": "0c", "ONESHEET_ADMIN_TOKEN": "secret-for-tests",
            "KOBIS_KEY": "k",
            "KAKAO_KEY": "a",
        ]
        // When it is decoded
        let configuration = try ConfigurationFile(environment: environment).parse(text)
        // Then every value is correct
        XCTAssertEqual(configuration.listen, .host("127.0.0.1", port: 8080))
        XCTAssertEqual(configuration.cache.memory.bytes.bytes, 268_435_456)
        XCTAssertEqual(configuration.cache.disk.bytes.bytes, 10_737_418_240)
        XCTAssertEqual(configuration.cache.disk.expires.duration, .seconds(604_800))
        XCTAssertEqual(configuration.signing.keys.first?.key, [10, 11])
        XCTAssertEqual(configuration.admin.token, "secret-for-tests")
        XCTAssertEqual(configuration.limits.limits, Limits())
        XCTAssertEqual(configuration.presets, ["card": "rs:fill:342:513/q:75"])
        XCTAssertEqual(configuration.sourceNames, ["boxoffice", "web", "art"])
        guard case .mapping(let keys)? = configuration.sources["boxoffice"]?.configuration else { return XCTFail("no keys") }
        XCTAssertEqual(keys["key"], .scalar("k"))
    }

    func testThatWithoutAFileTheSampleSourceIsThere() throws {
        XCTAssertEqual(ServerConfiguration().sources.keys.sorted(), ["sample"])
    }

    func testThatMistakesAreNamedWithTheirPlace() {
        // Given configurations with one mistake each, and the expected words of the message
        let table = [
            ("lisen: 127.0.0.1:80\nsources: { a: { type: sample } }", "unknown key “lisen”; did you mean “listen”?"),
            ("cache: { memory: { byte: 1 } }", "cache.memory: unknown key “byte”; did you mean “bytes”?"),
            ("cache: { memory: { bytes: lots } }", "cache.memory.bytes: “lots” is not a number of bytes"),
            ("limits: { workers: 0 }", "limits.workers: needs at least 1"),
            ("limits: { memory: 15MiB }", "limits.memory: needs at least 16MiB"),
            ("limits: { pixels: 2000G }", "limits.pixels: can be at most 1000G"),
            ("limits: { originTimeout: 10 }", "limits.originTimeout: “10” is not a duration"),
            ("rendering: { linearLigth: true }", "rendering: unknown key “linearLigth”; did you mean “linearLight”?"),
            ("rendering: { deadline: 0s }", "rendering.deadline: must be greater than 0, such as 20s"),
            ("rendering: { deadline: 20 }", "rendering.deadline: “20” is not a duration"),
            ("listen: here", "listen: “here” is not an address"),
            ("sources: {}", "sources: needs at least one source"),
            ("sources: { Bad_Name: { type: sample } }", "sources.Bad_Name: a source's name is the scheme"),
            ("sources: { http: { type: remote } }", "sources.http"),
            ("sources: { a: { key: 1 } }", "sources.a: needs a “type”"),
            ("signing: { keys: [{ key: xyz, salt: 00 }] }", "signing.keys.[0].key: needs an even number of hexadecimal digits"),
            ("admin: { token: \"${NOT_SET}\" }", "admin.token: the environment variable NOT_SET is not set; `export NOT_SET=…`"),
            ("a: [1", "not valid YAML"),
            ("listen: 1\nlisten: 2", "listen"), ("listen: \"unix:\"", "listen: “unix:” is not an address"),
            ("listen: \"unix:/\(String(repeating: "a", count: 107))\"", "is not an address"),
            ("socketMode: 668", "socketMode: “668” is not a mode"), ("socketMode: 1777", "socketMode"),
            ("cors: { origins: [\"https://a.example/\"] }", "cors.origins: “https://a.example/” is not an origin"),
            ("accessLog: { path: \"\" }", "accessLog.path: needs the path of a file"),
            ("accessLog: { format: combine }", "accessLog.format: unknown format “combine”; did you mean “combined”?"),
            ("cors: { origins: [a.example] }", "cors.origins"), ("cors: { origins: [\"https://A.example\"] }", "cors.origins"),
            ("cors: { origins: [\"null\"] }", "cors.origins"), ("cors: { origins: [\"https://*.example.com\"] }", "cors.origins"),
        ]
        for (text, message) in table {
            // When they are decoded
            XCTAssertThrowsError(try ConfigurationFile(environment: [:]).parse(text), text) { error in
                // Then the message names the problem and its path
                XCTAssertTrue("\(error)".contains(message), "\(text) → \(error)")
            }
        }
    }

    func testThatAVariableMayHaveAFallback() throws {
        let file = ConfigurationFile(environment: ["SET": "1.2.3.4:5"])
        XCTAssertEqual(try file.parse("listen: \"${SET:-x}\"\nsources: { a: { type: b } }").listen, .host("1.2.3.4", port: 5))
        XCTAssertEqual(
            try file.parse("listen: \"${UNSET:-5.6.7.8:9}\"\nsources: { a: { type: b } }").listen, .host("5.6.7.8", port: 9))
    }

    func testThatAFileThatIsNotThereIsSaidSo() {
        XCTAssertThrowsError(try ConfigurationFile().load("/nowhere/onesheet.yaml")) {
            XCTAssertEqual("\($0)", "cannot read the configuration /nowhere/onesheet.yaml: the file does not exist")
        }
    }
}
