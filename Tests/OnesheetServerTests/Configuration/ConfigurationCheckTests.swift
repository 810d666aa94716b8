import Foundation
import OnesheetCore
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// All errors of a configuration at once, each with its place.
final class ConfigurationCheckTests: XCTestCase {
    func testThatAllErrorsAreToldInTheOrderOfTheFile() throws {
        // Given a configuration with errors of every kind
        let text = """
            lisen: 127.0.0.1:80
            limits:
              workers: 0
              originConcurrency: 0
              queueTime: 10
            clients: { connections: 0, memory: 5, perAddress: { burst: 0 } }
            log: { level: loud }
            presets:
              card: "rs:fill:342:513/q:750"
              wall: "nonsense:1"
              good: "w:1"
            dialects: [iiif, thumbr]
            prefetch:
              - { at: "06:00", source: art, sizes: [w1] }
              - { at: "25:00", source: art }
              - { at: "06:00", sorce: art }
            rendering: { codecs: { png: { effort: 99 }, jpge: {} } }
            cache: { tiers: [{ type: none }] }
            admin: { token: "${NOT_SET}" }
            sources:
              art: { type: foldr, path: x }
              web: { type: remote, alow: [], networks: [moon], limits: { calls: 0, tme: 1s } }
              box: { type: boxoffice, key: "${NOR_SET}", posters: { type: kakao, kee: 1 } }
              none: { key: 1 }
            """
        // When it is checked
        let errors = try check(text)
        // Then each is told with its line, its column and its path
        let expected = [
            "1:1: unknown key “lisen”; did you mean “listen”?", "3:12: limits.workers: needs at least 1",
            "4:22: limits.originConcurrency: needs at least 1", "5:14: limits.queueTime: “10” is not a duration",
            "6:25: clients.connections: needs at least 1", "6:36: clients.memory: needs at least 1MiB",
            "6:60: clients.perAddress.burst: needs at least 1", "7:15: log.level: unknown level “loud”",
            "9:9: presets.card: ", "10:9: presets.wall: ", "12:18: dialects.[1]: unknown dialect “thumbr”; did you mean “thumbor”?",
            "14:5: prefetch.[0]: ", "15:11: prefetch.[1].at: “25:00” is not a time of day",
            "16:20: prefetch.[2]: unknown key “sorce”; did you mean “source”?", "17:",
            "17:45: rendering.codecs: unknown codec “jpge”",
            "18:26: cache.tiers.[0].type: unknown tier type “none”",
            "19:17: admin.token: the environment variable NOT_SET is not set",
            "21:16: sources.art.type: unknown source type “foldr”; did you mean “folder”?",
            "22:24: sources.web: unknown key “alow”; did you mean “allow”?", "22:", "22:",
            "22:72: sources.web.limits: unknown key “tme”; did you mean “time”?",
            "23:32: sources.box.key: the environment variable NOR_SET is not set", "24:9: sources.none: needs a “type”",
        ]
        let found = errors.map { "\($0)" }
        for (index, words) in expected.enumerated() {
            let line = index < found.count ? found[index] : "nothing"
            XCTAssertTrue(line.hasPrefix("a.yaml:\(words)"), "\(words) ≠ \(line)")
        }
        XCTAssertEqual(found.count, expected.count, found.joined(separator: "\n"))
    }

    func testThatAWatermarkThatCannotBeReadHidesNoOtherError() throws {
        let text = """
            rendering: { watermark: { path: /none.png } }
            presets: { card: "wall:1" }
            prefetch: [{ at: "06:00", source: a, sizes: [w1] }]
            sources: { a: { type: sample } }
            """
        let found = try check(text).map { "\($0)" }
        XCTAssertEqual(found.count, 3, found.joined(separator: "\n"))
        for (line, words) in zip(found, ["/none.png", "unknown option “wall”", "w1"]) {
            XCTAssertTrue(line.contains(words), "\(words) ≠ \(line)")
        }
    }

    func testThatARepeatedKeyIsAtItsOwnPlaceAndHidesNoOtherError() throws {
        let text = """
            listen: 127.0.0.1:1
            cache: { memory: { bytes: 1 }, "memory": { byte: 2 } }
            sources: { a: { type: sample } }
            'listen': 127.0.0.1:2
            listen: here
            """
        let errors = try check(text).map { "\($0)" }
        XCTAssertEqual(
            errors,
            [
                "a.yaml:2:32: cache: the key “memory” occurs twice, first in line 2",
                "a.yaml:2:44: cache.memory: unknown key “byte”; did you mean “bytes”?",
                "a.yaml:5:1: the key “listen” occurs twice, first in line 1",
                "a.yaml:5:1: the key “listen” occurs twice, first in line 4",
                "a.yaml:5:9: listen: “here” is not an address such as 127.0.0.1:8080 or unix:/run/onesheet/onesheet.sock",
            ])
    }

    func testMembersOfSourcesAreKnownAndInNoCircle() throws {
        // Given
        let text = """
            sources:
              good: { type: first, sources: [inner, sample] }
              inner: { type: first, sources: [sample] }
              slip: { type: first, sources: [sample], logo: [smaple] }
              self: { type: first, sources: [self] }
              one: { type: first, sources: [other] }
              other: { type: first, sources: [one] }
              sample: { type: sample }
            """

        // When
        let errors = try check(text).map { "\($0)" }

        // Then
        XCTAssertEqual(
            errors,
            [
                "a.yaml:4:50: sources.slip.logo.[0]: unknown source “smaple”; did you mean “sample”?",
                "a.yaml:5:34: sources.self.sources.[0]: a source cannot be made of itself: self → self",
                "a.yaml:6:33: sources.one.sources.[0]: “other” cannot be used: sources.other.sources.[0]: a source cannot be made of "
                    + "itself: one → other → one",
                "a.yaml:7:35: sources.other.sources.[0]: “one” cannot be used: sources.one.sources.[0]: a source cannot be made of "
                    + "itself: other → one → other",
            ])
    }

    func testListsAndAnswersOfAPrefetchAreThoseOfItsSource() throws {
        // Given
        let text = """
            dialects: [tmdb]
            sources: { tmdb: { type: rest, manifest: tmdb, variables: { token: a } }, sample: { type: sample } }
            prefetch:
              - { at: "06:00", source: tmdb, list: popular, answers: ["", "language=de-DE&append_to_response=images"] }
              - { at: "06:00", source: tmdb, list: collection-10 }
              - { at: "06:00", source: tmdb, list: populer }
              - { at: "06:00", source: tmdb, list: collection- }
              - { at: "06:00", source: tmdb, list: popular, answers: ["append_to_response=rating"] }
              - { at: "06:00", source: sample, answers: [""] }
            """
        // When
        let errors = try check(text).map { "\($0)" }
        // Then
        let expected = [
            "6:40: prefetch.[2].list: unknown list “populer”; did you mean “popular”?",
            "7:40: prefetch.[3].list: unknown list “collection-”",
            "8:58: prefetch.[4].answers: this mirror of TMDB has no accounts",
            "9:45: prefetch.[5].answers: no dialect asks “sample”",
        ]
        XCTAssertEqual(errors.count, expected.count, errors.joined(separator: "\n"))
        for (error, words) in zip(errors, expected) {
            XCTAssertTrue(error.hasPrefix("a.yaml:\(words)"), "\(words) ≠ \(error)")
        }
    }

    func testThatInvalidYAMLHasItsPlace() {
        XCTAssertThrowsError(try check("listen: 127.0.0.1:1\nsources: [a\n")) {
            XCTAssertTrue("\($0)".hasPrefix("a.yaml:3:1: not valid YAML: "), "\($0)")
        }
        XCTAssertThrowsError(try check("just a text")) { XCTAssertEqual("\($0)", "a.yaml:1:1: needs keys below it") }
    }

    func testThatANestedSourceIsNamedByItsKeys() throws {
        let errors = try check(
            """
            sources:
              box:
                type: boxoffice
                key: k
                posters: { type: kakao, kee: 1 }
            """)
        XCTAssertEqual(
            errors.first.map { "\($0)" }?.hasPrefix("a.yaml:5:29: sources.box.posters: unknown key “kee”"), true, "\(errors)")
    }

    func testThatAServerThatOthersReachIsRefusedOnlyIfItsKeysAreRight() throws {
        let open = "listen: 0.0.0.0:80\nsources: { a: { type: sample } }\n"
        XCTAssertEqual(try check(open).map(\.path), ["listen"])
        XCTAssertEqual(
            try check(open + "signing: { keys: [{ key: \"${UNSET}\", salt: 00 }] }").map(\.path), ["signing.keys.[0].key"])
        XCTAssertEqual(try check(open + "presetsOnly: true").map(\.path), [])
    }

    private func check(_ text: String) throws -> [ConfigurationError] {
        let (configuration, errors) = try ConfigurationFile(environment: [:]).examine(text: text, file: "a.yaml")
        return try ConfigurationCheck.errors(of: configuration, .standard, besides: errors, logger: RunningServer.silent)
    }
}
