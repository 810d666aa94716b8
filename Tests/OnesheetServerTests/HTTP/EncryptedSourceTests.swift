import Foundation
import NIOCore
import OnesheetAddress
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetServer

/// Addresses with an encrypted source URL, requested by clients.
final class EncryptedSourceTests: ServerTestCase {
    private let key = "0102030405060708"
    private let secret = "000102030405060708090a0b0c0d0e0f"

    private func keys(_ more: String = "") -> String {
        "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }], encryptionKey: \"\(secret)\"\(more) }"
    }

    /// The address of a path that the key of the configuration has signed.
    private func signed(_ path: String) throws -> String {
        let bytes = try XCTUnwrap([UInt8](hex: key))
        return "/i/\(try XCTUnwrap(Signature(keys: [SigningKey(key: bytes, salt: bytes)]).sign(path)))\(path)"
    }

    private func encrypted(_ url: String) throws -> String {
        let encryption = try XCTUnwrap(SourceEncryption(key: try XCTUnwrap([UInt8](hex: secret))))
        return try encryption.encrypt(url)
    }

    func testThatAnEncryptedAddressShowsThePictureAndNotItsURL() async throws {
        // Given an origin
        let file = try DrawnPoster(width: 60, height: 90).file(PNGCodec())
        let origin = try await origin { path, _ in
            path.hasPrefix("/hidden-name") ? .answer(type: "image/png", body: ByteBuffer(bytes: file)) : .answer(status: 404)
        }
        for hasFastPath in [true, false] {
            let server = try await server(
                sources: web(origin), keys: keys() + "\nadmin: { token: secret-for-tests }", hasFastPath: hasFastPath)
            let text = try encrypted("\(origin.url)/hidden-name.png")
            let parts = "\(text.prefix(9))/\(text.dropFirst(9))"
            for path in [
                "/w:30/enc/\(text).png", "/w:30/enc/\(parts).png", "/w:30/fn:shown/att:1/enc/\(text).png",
                "/w:30/att:1/enc/\(text).png",
            ] {
                // When it is requested, twice
                for _ in 0..<2 {
                    let answer = try await server.send(try signed(path))
                    // Then it is the picture, and no field has its URL
                    XCTAssertEqual(answer.status, 200, "\(path) \(answer.text)")
                    XCTAssertNil(answer.field("Link"))
                    XCTAssertFalse("\(answer.fields)".contains("hidden-name"), "\(answer.fields)")
                }
            }
            // And only the administrator gets an explanation.
            let address = "/explain?url=" + PercentEncoding.encode(try signed("/w:30/enc/\(text).png"))
            assertProblem(try await server.send(address), 403, "only the administrator")
            let explained = try await server.send(address, fields: [("Authorization", "Bearer secret-for-tests")])
            XCTAssertEqual(explained.status, 200, explained.text)
        }
    }

    func testThatFailuresDoNotRevealTheURL() async throws {
        let origin = try await origin { _, _ in .answer(status: 404) }
        let server = try await server(sources: web(origin), keys: keys())
        for (url, status) in [
            ("\(origin.url)/hidden-name.png", 404), ("https://hidden-name.example/a", 403), ("hidden-name://1", 403),
            ("hidden-name", 403), ("", 403),
        ] {
            let answer = try await server.send(try signed("/w:30/enc/\(try encrypted(url)).png"))
            XCTAssertEqual(answer.status, status, "\(url) \(answer.text)")
            XCTAssertFalse(answer.text.contains("hidden-name"), answer.text)
        }
    }

    func testThatOnlySignedAddressesAreDecrypted() async throws {
        // Given a server that accepts `unsafe` for plain addresses
        let server = try await server(keys: keys(", unsafe: true"))
        let path = "/w:30/enc/\(try encrypted("sample://1")).png"
        // Then
        let good = try await server.send(try signed(path))
        XCTAssertEqual(good.status, 200, good.text)
        for signature in ["unsafe", "", "AAAA", String(repeating: "A", count: 43)] {
            assertProblem(try await server.send("/i/\(signature)\(path)"), 403, "signature", context: signature)
        }
        let plain = try await server.send("/i/unsafe/w:30/plain/sample://1@png")
        XCTAssertEqual(plain.status, 200, plain.text)
    }

    func testThatEveryTextThatCannotBeDecryptedGetsTheSameAnswer() async throws {
        let server = try await server(keys: keys())
        let whole = try encrypted("sample://1")
        var details: Set<String> = []
        for text in ["", "A", "!!!!", String(whole.dropLast(8)), String(whole.dropLast(1)) + "A", "A" + whole.dropFirst(1)]
        where text != whole {
            let answer = try await server.send(try signed("/w:30/enc/\(text).png"))
            // A changed vector may decrypt to another text, which no source allows.
            if text.hasPrefix("A"), answer.status == 403 || answer.status == 404 { continue }
            XCTAssertEqual(answer.status, 400, "\(text) \(answer.text)")
            details.insert(try answer.json()["detail"] as? String ?? "")
        }
        XCTAssertEqual(details, ["the encrypted source URL cannot be decrypted"])
    }

    func testThatAServerWithoutAKeySaysSo() async throws {
        let server = try await server(keys: "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }] }")
        assertProblem(
            try await server.send(try signed("/w:30/enc/\(try encrypted("sample://1")).png")), 400, "signing.encryptionKey")
    }

    func testThatAnEncryptionKeyNeedsSigningKeys() {
        let text = "signing: { encryptionKey: \"\(secret)\" }\nsources: { a: { type: sample } }"
        XCTAssertThrowsError(try ConfigurationFile(environment: [:]).parse(text)) {
            XCTAssertTrue("\($0)".contains("signing.encryptionKey"), "\($0)")
        }
    }
}
