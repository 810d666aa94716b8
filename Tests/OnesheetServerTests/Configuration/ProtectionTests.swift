import OnesheetAddress
import Logging
import NIOCore
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// A server does not start without protection.
final class ProtectionTests: ServerTestCase {
    func testThatAServerThatOthersCanReachNeedsALimit() throws {
        let sample = "sources: { sample: { type: sample } }"
        let web = "sources: { web: { type: remote, allow: [\"https://example.com/\"] } }"
        let key = "signing: { keys: [{ key: \"00\", salt: \"01\" }] }"
        let table: [(String, String, Bool)] = [
            ("127.0.0.1:1", sample, true), ("127.9.9.9:1", sample, true), ("\"[::1]:1\"", sample, true),
            ("localhost:1", sample, true),
            ("\"[::ffff:127.0.0.1]:1\"", sample, true),
            ("0.0.0.0:1", sample, false), ("\"[::]:1\"", sample, false), ("192.168.0.1:1", sample, false),
            ("8.8.8.8:1", sample, false),
            ("images.example.com:1", sample, false), ("localhost.example.com:1", sample, false),
            ("\"[::ffff:10.0.0.1]:1\"", sample, false), ("0:1", sample, false), ("127.1:1", sample, false),
            ("0.0.0.0:1", sample + "\nsigning: { unsafe: true }", false),
            ("0.0.0.0:1", sample + "\n" + key, true), ("0.0.0.0:1", sample + "\npresetsOnly: true", true), ("0.0.0.0:1", web, true),
        ]
        for (listen, keys, isProtected) in table {
            let configuration = try ConfigurationFile(environment: [:]).parse("listen: \(listen)\n\(keys)")
            do throws(ConfigurationError) {
                try configuration.requireProtection()
                XCTAssertTrue(isProtected, "\(listen) \(keys)")
            } catch {
                XCTAssertFalse(isProtected, "\(listen) \(keys)")
                XCTAssertEqual(error.path, "listen")
                for remedy in ["signing.keys", "presetsOnly: true", "allow-list", "127.0.0.1:1"] {
                    XCTAssertTrue(error.message.contains(remedy), error.message)
                }
            }
        }
    }

    func testThatASocketNeedsALimitOrTheWordThatThereIsNone() throws {
        let sample = "sources: { sample: { type: sample } }"
        for (keys, isProtected) in [
            ("", false), ("signing: { unsafe: false }", false), ("signing: { unsafe: true }", true), ("presetsOnly: true", true),
            ("signing: { keys: [{ key: \"00\", salt: \"01\" }] }", true),
        ] {
            let configuration = try ConfigurationFile(environment: [:]).parse("listen: \"unix:/tmp/o.sock\"\n\(sample)\n\(keys)")
            do throws(ConfigurationError) {
                try configuration.requireProtection()
                XCTAssertTrue(isProtected, keys)
            } catch {
                XCTAssertFalse(isProtected, keys)
                XCTAssertEqual(error.path, "listen")
                for remedy in ["signing.keys", "presetsOnly: true", "allow-list", "unsafe: true", "proxy"] {
                    XCTAssertTrue(error.message.contains(remedy), error.message)
                }
            }
        }
    }

    func testThatAServerSaysThatAnybodyMayAskForAnything() async throws {
        let key = "keys: [{ key: \"00\", salt: \"01\" }]"
        let table: [(keys: String, socket: Bool, warns: Bool)] = [
            ("", false, true), ("signing: { unsafe: true }", true, true), ("signing: { \(key), unsafe: true }", false, true),
            ("signing: { \(key) }", false, false), ("signing: { \(key) }", true, false), ("presetsOnly: true", false, false),
        ]
        for (keys, socket, warns) in table {
            // Given a server after its start
            let lines = LogLines()
            let listen = socket ? "unix:\(folder()).socket" : "127.0.0.1:0"
            _ = try await server(keys: keys, logger: lines.logger(level: .warning), listen: listen)
            // Then its log warns if necessary, with a solution
            let warning = lines.all.first { $0.contains("may request any variant") }
            XCTAssertEqual(warning != nil, warns, keys)
            if let warning { XCTAssertTrue(warning.contains("signing.keys"), warning) }
        }
    }

    func testThatSuchAServerIsNotMadeAtAll() throws {
        let configuration = try ConfigurationFile(environment: [:]).parse(
            "listen: 0.0.0.0:0\ncache: { disk: { path: \"\(folder())\" } }\nsources: { sample: { type: sample } }")
        XCTAssertThrowsError(try Server(configuration, .standard, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        {
            XCTAssertTrue("\($0)".hasPrefix("listen: other machines can reach 0.0.0.0:0"), "\($0)")
        }
    }

    func testThatWithPresetsOnlyNothingElseIsMade() async throws {
        // Given a server that accepts only presets
        let server = try await server(keys: "presetsOnly: true\npresets: { card: \"rs:fill:60:90\", sharp: \"sh:1\" }")
        // When presets and other options are requested
        let card = try await server.send("/i/unsafe/pr:card:sharp/plain/sample://1@png")
        // Then presets are served, and others are refused by name
        XCTAssertEqual(card.status, 200)
        XCTAssertEqual(try Picture.header(card.body).width, 60)
        for options in ["w:10", "pr:card/q:5", "dpr:2", "rs:fit:1:1"] {
            let answer = try await server.send("/i/unsafe/\(options)/plain/sample://1@png")
            assertProblem(answer, 403, "presets: card, sharp", context: options)
        }
        let poster = try await server.send("/t/p/w92/sample/1.jpg")
        XCTAssertEqual(poster.status, 200)
    }

    func testThatKeysCanBeChangedWithoutBreakingAURL() async throws {
        // Given signatures of the old key
        let path = "/w:40/plain/sample://1@jpg"
        let keys = ["{ key: \"aa\", salt: \"01\" }", "{ key: \"bb\", salt: \"02\" }"]
        func signed(_ pair: String) throws -> String {
            let configuration = try ConfigurationFile(environment: [:]).parse(
                "signing: { keys: [\(pair)] }\nsources: { a: { type: b } }")
            return "/i/\(try XCTUnwrap(Signature(configuration.signing, needsKey: true).sign(path)))\(path)"
        }
        // When a new key is added, and then the old one is removed
        let during = try await server(keys: "signing: { keys: [\(keys[1]), \(keys[0])] }")
        let after = try await server(keys: "signing: { keys: [\(keys[1])] }")
        // Then both are valid first, and then only the new one
        for (server, pair, status) in [
            (during, keys[0], 200), (during, keys[1], 200), (after, keys[0], 403), (after, keys[1], 200),
        ] {
            let answer = try await server.send(try signed(pair))
            XCTAssertEqual(answer.status, status, pair)
        }
    }
}
