import OnesheetAddress
import OnesheetCore
import XCTest

@testable import OnesheetServer

/// The output of `config print`.
final class PrintedConfigurationTests: XCTestCase {
    private let environment = ["KEY": "0a0b0c0d", "TOKEN": "t0psecret-for-tests", "KOBIS": "kobis-secret", "PORT": "8081"]

    private func parse(_ text: String) throws -> ServerConfiguration {
        try ConfigurationFile(environment: environment).parse(text)
    }

    /// A file with keys of every section.
    private let full = """
        listen: "127.0.0.1:${PORT}"
        socketMode: 600
        tls: { certificate: c.pem, key: "a key: #1.pem" }
        cache: { memory: { bytes: 1000, expires: 90s }, disk: { path: "/a b", bytes: 3GiB, expires: 1500ms, free: 2GiB } }
        signing: { keys: [{ key: "${KEY}", salt: 0c0d }], size: 16, unsafe: true }
        admin: { token: "${TOKEN}" }
        limits: { originBytes: 7MiB, pixels: 1500, queueTime: 2h, scans: 3 }
        clients: { perAddress: { misses: 0.5 }, trustedProxies: [private, 203.0.113.0/24], memory: 64MiB }
        log: { format: json, level: debug }
        accessLog: { path: /var/log/onesheet/access.log, format: json }
        shutdown: { delay: 5s }
        cors: { origins: ["*"] }
        rendering: { quality: auto, linearLight: false, codecs: { png: { effort: 9 } } }
        presets: { card: "rs:fill:342:513/q:75", b: "w:1" }
        dialects: [iiif, { imgproxy: / }, { thumbor: { at: /, baseURL: "https://a.example/" } }]
        prefetch: [{ at: "06:05", timeZone: "-03:30", source: films, date: yesterday, sizes: [w92] }]
        sources:
          films: { type: boxoffice, key: "${KOBIS}", posters: { type: kakao, key: literal-secret }, limits: { calls: 3 } }
          api: { type: rest, manifest: tmdb, variables: { language: ko-KR }, headers: { X-Api-Key: hidden-header, User-Agent: shown-header } }
          art: { type: folder, path: "./${NOT_SET:-posters}" }
        """

    func testThatWhatIsPrintedMeansTheSame() throws {
        // Given
        let configuration = try parse(full)
        // When it is printed and parsed again
        let printed = configuration.yaml
        let again = try parse(printed.replacing("\"(secret)\"", with: "0c0d"))
        // Then the second output is equal
        XCTAssertEqual(again.yaml.replacing("0c0d", with: "\"(secret)\""), printed.replacing("0c0d", with: "\"(secret)\""))
        // And values are unchanged
        XCTAssertEqual(again.listen, .host("127.0.0.1", port: 8081))
        XCTAssertEqual(again.tls, configuration.tls)
        XCTAssertEqual(again.cache, configuration.cache)
        XCTAssertEqual(again.limits, configuration.limits)
        XCTAssertEqual(again.log, configuration.log)
        XCTAssertEqual(again.accessLog, configuration.accessLog)
        XCTAssertEqual(again.prefetch, configuration.prefetch)
        XCTAssertEqual(again.dialects, configuration.dialects)
        XCTAssertEqual(again.rendering.quality, .automatic)
        XCTAssertEqual(again.sourceNames, ["films", "api", "art"])
        XCTAssertEqual(
            Signature(again.signing, needsKey: true).sign("/w:60"), Signature(configuration.signing, needsKey: true).sign("/w:60"))
        XCTAssertEqual(again.admin.token, "t0psecret-for-tests")
    }

    func testThatNoSecretIsPrinted() throws {
        let printed = try parse(full).yaml
        for secret in ["t0psecret-for-tests", "0a0b0c0d", "0c0d", "kobis-secret", "literal-secret", "hidden-header"] {
            XCTAssertFalse(printed.contains(secret), "\(secret) in \(printed)")
        }
        for name in ["${KEY}", "${TOKEN}", "${KOBIS}"] { XCTAssertTrue(printed.contains(name), "\(name) in \(printed)") }
        XCTAssertTrue(printed.contains("path: \"./${NOT_SET:-posters}\""), printed)
        for text in ["language: ko-KR", "User-Agent: shown-header"] { XCTAssertTrue(printed.contains(text), printed) }
    }

    func testThatASecretOfVariablesIsPrintedAsWritten() throws {
        let table = [
            ("${TOKEN:-}", true), ("${NOT_SET:-a-secret}", false), ("Bearer ${TOKEN}", true), ("KakaoAK {key}", true),
            ("${KEY}:${TOKEN}", true), ("", true), ("${KEY}-and-more", false), ("abc ", false), ("a1 ${KEY}", false),
            ("Bearer abc", false),
            ("a-long-scheme-of-its-own ${TOKEN}", false),
        ]
        for (written, isPrinted) in table {
            // Given a secret of a plugin
            let text = "sources: { s: { type: rest, headers: { Authorization: \"\(written)\" } } }"
            // When it is printed
            let printed = try parse(text).yaml
            // Then it has the variables, or nothing of the secret
            XCTAssertTrue(
                printed.contains("Authorization: \(isPrinted ? "\"\(written)\"" : "\"(secret)\"")\n"), "\(written) in \(printed)")
        }
    }

    func testThatOnlyWhatSoundsSecretIsHidden() throws {
        // Given keys of each kind
        let hidden = [
            "variables: { token: abc }", "variables: { apiKey: abc }", "environment: { DB_PASSWORD: abc }",
            "environment: { AWS_ACCESS_KEY_ID: abc }", "environment: { DB_PASS: abc }", "environment: { SENTRY_DSN: abc }",
            "environment: { DATABASE_URL: \"postgres://user:abc@host/db\" }", "url: \"https://user:abc@host/\"",
            "headers: { Cookie: abc }", "headers: { Proxy-Authorization: abc }",
            "headers: { X-Auth: abc }", "key: abc", "secretKey: abc", "sessionToken: abc", "posters: { type: kakao, key: abc }",
            "keyring: { password: [abc] }",
        ]
        let shown = [
            "variables: { language: abc }", "environment: { LANG: abc }", "headers: { Referer: abc }", "path: abc",
            "url: \"https://host:1/abc@2\"",
            "posters: { type: kakao, headers: { User-Agent: abc } }", "command: [abc]",
        ]
        for keys in hidden + shown {
            // When they are printed
            let printed = try parse("sources: { s: { type: rest, \(keys) } }").yaml
            // Then secrets are hidden, and nothing else
            XCTAssertEqual(printed.contains("abc"), shown.contains(keys), printed)
            XCTAssertEqual(printed.contains("(secret)"), hidden.contains(keys), printed)
        }
    }

    func testSecretsInTheFileAreKnownToRecordings() throws {
        for (keys, secrets) in [
            ("key: abcdefgh", ["abcdefgh"]), ("variables: { lit: LiteralSecret77 }", ["LiteralSecret77"]),
            ("variables: { token: abcd }", ["abcd"]), ("headers: { X-Api-Key: abcd }", ["abcd"]),
            ("headers: { Authorization: \"Bearer abcd\" }", ["Bearer abcd", "abcd"]),
            ("url: \"https://user:abc@host/\"", ["https://user:abc@host/"]), ("posters: { type: kakao, key: abcd }", ["abcd"]),
            ("variables: { language: en-US, site: \"https://films.example/v3\" }", []), ("key: \"${KEY}\"", ["from-environment"]),
            ("headers: { User-Agent: \"films of a cinema (example.org)\" }", []), ("path: /srv/films/of/a/cinema", []),
        ] as [(String, [String])] {
            let text = "sources: { s: { type: rest, \(keys) } }"
            let configuration = try ConfigurationFile(environment: ["KEY": "from-environment"]).parse(text)
            XCTAssertEqual(configuration.secrets, secrets, keys)
        }
    }

    func testThatEveryKeyIsPrintedAlsoWithoutAFile() throws {
        // Given the defaults without a file
        let lines = ServerConfiguration().yaml.split(separator: "\n").map { $0.drop { $0 == " " } }
        // Then each key of a section has a line, but for those of sections that are off and of sources
        for row in ServerConfiguration.rows(below: "")
        where !row.path.contains("[]") && !["tls.", "rendering.watermark.", "sources.NAME."].contains(where: row.path.hasPrefix) {
            let key = row.path.split(separator: ".").last ?? ""
            XCTAssertTrue(lines.contains { $0.hasPrefix("\(key):") }, row.path)
        }
        XCTAssertEqual(lines.first, "listen: 127.0.0.1:8080")
        XCTAssertTrue(lines.contains("memory: 128MiB"), "\(lines)")
        XCTAssertTrue(lines.contains("free:  # 5 % of the disk, at most 1 GiB"), "\(lines)")
        // And the output can be parsed again
        XCTAssertEqual(try parse(ServerConfiguration().yaml).yaml, ServerConfiguration().yaml)
    }

    func testThatTheServersKeysOfATierArePrintedWithItsOwn() throws {
        // Given two tiers, one of which has a name and a deadline
        let text =
            "cache: { tiers: [{ type: a, path: /x }, { deadline: 1s, name: b, type: a, path: /y }] }\nsources: { s: { type: sample } }"
        // When they are printed
        let printed = try parse(text).yaml
        // Then each key is there, also with its default, and is read again
        let lines = printed.split(separator: "\n").map { $0.drop { " -".contains($0) } }
        for line in ["path: /x", "name:  # its type", "deadline: 250ms", "deadline: 1s", "name: b", "path: /y"] {
            XCTAssertTrue(lines.contains { $0 == line }, "\(line) in \(printed)")
        }
        XCTAssertEqual(try parse(printed).yaml, printed)
    }

    func testThatStrangeTextsComeBack() throws {
        for text in ["a: b", "#", "\"\\", "null", "~", "yes", "- a", "\u{7}\u{85}", "한글", "a\nb", "{", "w:1:", "*"] {
            // Given a preset with special characters of YAML
            var configuration = ServerConfiguration()
            configuration.presets = ["strange": text]
            // When it is printed and parsed
            let again = try parse(configuration.yaml)
            // Then it is unchanged
            XCTAssertEqual(again.presets, ["strange": text], configuration.yaml)
        }
    }
}
