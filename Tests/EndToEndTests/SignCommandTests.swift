import Foundation
import OnesheetClient
import XCTest

/// The command `sign`, beside a server with the same configuration.
final class SignCommandTests: CommandTestCase {
    func testThatWhatIsSignedIsServedAndNothingElse() async throws {
        // Given a key and a signed address
        let key = String(repeating: "0123456789abcdef", count: 4)
        try Data("signing: { keys: [{ key: \(key), salt: \(key) }] }\nsources: { sample: { type: sample } }\n".utf8).write(
            to: folder.appending(path: "onesheet.yaml"))
        let path = "rs:fill:60:90/plain/sample%3A%2F%2F1@png"
        let signed = try await run(["sign", path])
        XCTAssertEqual(signed.status, 0, signed.errors)
        let address = signed.text.trimmingCharacters(in: .newlines)
        // Which is that of a client with the key
        let bytes = (0..<4).flatMap { _ in [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF] as [UInt8] }
        let client = PosterAddresses(at: "", signature: Signature(keys: [SigningKey(key: bytes, salt: bytes)]))
        XCTAssertEqual(address, try client.image(of: "sample://1", options: "rs:fill:60:90", format: .png))
        // When a server with that key gets it, and an unsigned one
        let (server, url) = try await Program.serve(["--cache", "c"], in: folder)
        defer { Program.end(server) }
        let answer = try await WebAnswer.to(url + address)
        let other = try await WebAnswer.to(url + address.replacing("60:90", with: "61:90"))
        let unsafe = try await WebAnswer.to(url + "/i/unsafe/" + path)
        // Then it accepts the first and rejects the second
        XCTAssertEqual([answer, other, unsafe].map(\.status), [200, 403, 403])
        XCTAssertEqual(Array(answer.body[16..<24]), [0, 0, 0, 60, 0, 0, 0, 90])
    }

    func testThatNothingIsSignedThatNoServerUnderstands() async throws {
        // Given a configuration with a key, a source that allows some URLs, and paths with one mistake each
        let key = String(repeating: "0123456789abcdef", count: 4)
        let text = """
            signing: { keys: [{ key: \(key), salt: \(key) }], unsafe: true }
            sources: { sample: { type: sample }, web: { type: remote, allow: ["https://images.example.com/"] } }
            """
        try Data(text.utf8).write(to: folder.appending(path: "onesheet.yaml"))
        let refusedByServers = [
            ("xx:1/plain/sample://1", "unknown option “xx”"), ("w:1/plain/", "is not a source URL"),
            ("w:1/plain/other://1", "unknown source “other”; "), ("w:1/plain/sample://1@tiff", "unknown extension “tiff”; known: "),
            ("w:1/plain/sample://", "names no title"), ("w:x/plain/sample://1", "w"),
            ("nonsense", "neither behind /plain/ nor base64url"),
            ("w:1/plain/https://elsewhere.example.com/a.jpg", "no remote source allows https://elsewhere.example.com/a.jpg"),
            ("w:1/enc/AAAA", "signing.encryptionKey"),
        ]
        let others = [
            ("http://127.0.0.1:8080/i/unsafe/w:1/plain/sample://1", "is a whole address"),
            ("/i/unsafe/w:1/plain/sample://1", "is a whole address"),
            ("w:1/plain/https://images.example.com/a.jpg?v=1", "“?” cannot be in the path of a URL; write %3F"),
            ("w:1/plain/sample://1#a", "write %23"), ("w:1/plain/sample://a b", "write %20"),
        ]
        let (server, url) = try await Program.serve(["--cache", "c"], in: folder)
        defer { Program.end(server) }
        for (path, words) in refusedByServers + others {
            // When such a path is signed
            let outcome = try await run(["sign", path])
            // Then the reason is printed, and no signature
            XCTAssertEqual(outcome.status, 1, path)
            XCTAssertEqual(outcome.text, "", path)
            XCTAssertTrue(outcome.errors.hasPrefix("onesheet: ") && outcome.errors.contains(words), "\(path): \(outcome.errors)")
        }
        for (path, _) in refusedByServers {
            // And it is the reason of a server
            let answer = try await WebAnswer.to("\(url)/i/unsafe/\(path)")
            XCTAssertGreaterThanOrEqual(answer.status, 400, path)
            guard !path.contains("/enc/") else { continue }
            let problem = try XCTUnwrap(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any], path)
            let outcome = try await run(["sign", path])
            XCTAssertEqual(outcome.errors, "onesheet: \(problem["detail"] as? String ?? "")\n", path)
        }
        // And what it understands is signed
        for path in [
            "w:1/plain/sample://1@png", "/w:1/plain/sample://1",
            "w:1/plain/https%3A%2F%2Fimages.example.com%2Fa.jpg%3Fv=1", "plain/sample://1", "w:60/c2FtcGxlOi8vMQ.jpg",
        ] {
            let outcome = try await run(["sign", path])
            XCTAssertEqual(outcome.status, 0, "\(path): \(outcome.errors)")
        }
    }

    func testThatAnEncryptedAddressIsServed() async throws {
        // Given keys and an address that hides its source URL
        let key = String(repeating: "0123456789abcdef", count: 4)
        try Data(
            "signing: { keys: [{ key: \(key), salt: \(key) }], encryptionKey: \(key) }\nsources: { sample: { type: sample } }\n"
                .utf8
        ).write(to: folder.appending(path: "onesheet.yaml"))
        let signed = try await run(["sign", "--encrypt", "rs:fill:60:90/plain/sample://1@png"])
        XCTAssertEqual(signed.status, 0, signed.errors)
        let address = signed.text.trimmingCharacters(in: .newlines)
        XCTAssertTrue(address.contains("/rs:fill:60:90/enc/") && address.hasSuffix(".png"), address)
        XCTAssertFalse(address.contains("sample"), address)
        // When a server with these keys gets it
        let (server, url) = try await Program.serve(["--cache", "c"], in: folder)
        defer { Program.end(server) }
        let answer = try await WebAnswer.to(url + address)
        // Then it is the picture
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(Array(answer.body[16..<24]), [0, 0, 0, 60, 0, 0, 0, 90])
    }
}
