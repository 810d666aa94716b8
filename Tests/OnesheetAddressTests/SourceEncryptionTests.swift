import Foundation
import OnesheetCore
import XCTest

@testable import OnesheetAddress

final class SourceEncryptionTests: XCTestCase {
    private let url = "https://example.com/포.jpg?size=%20"

    private func encryption(bytes: Int = 32) throws -> SourceEncryption {
        try XCTUnwrap(SourceEncryption(key: (0..<UInt8(bytes)).map { $0 }))
    }

    private let failure = RequestError.malformed("the encrypted source URL cannot be decrypted")

    func testThatTextsOfOpenSSLAreDecrypted() throws {
        // Given the output of `openssl enc -aes-…-cbc` after its initialisation vector, for the keys 00 01 02 …
        let texts = [
            16: "ZGVmZ2hpamtsbW5vcHFyc1Z7krBtw-MY8szePKuufnPa08LWyEszZKAQpE6Focea9Ft78yq8cjl7kIvMbGKBsA",
            24: "ZGVmZ2hpamtsbW5vcHFyc5c6hiZ_XV46lGZkRZo8MlFwli1AtPUWsIM-lqIBdr56AJ55_Mf9SkQE183SA8D8pw",
            32: "ZGVmZ2hpamtsbW5vcHFyc5pZz2GtsY9no_TbfJ5z7N-UWz9lB7tVF-LWID5o5FC_RzgEA1HLBrVyB8loyVLJqw",
        ]
        for (size, text) in texts { XCTAssertEqual(try encryption(bytes: size).decrypt(text), url, "\(size)") }
    }

    func testThatWhatIsEncryptedComesBackAndEqualURLsAreEqual() throws {
        let encryption = try encryption()
        for url in [url, "", "a", String(repeating: "x", count: 15), String(repeating: "y", count: 16)] {
            let text = try encryption.encrypt(url)
            XCTAssertEqual(try encryption.decrypt(text), url)
            XCTAssertEqual(try encryption.encrypt(url), text)
        }
        XCTAssertNotEqual(try encryption.encrypt("a").prefix(20), try encryption.encrypt("b").prefix(20))
    }

    func testThatEveryFailureIsTheSame() throws {
        // Given
        let encryption = try encryption()
        let whole = try XCTUnwrap(Data(base64URL: try encryption.encrypt(url)))
        var texts = [
            "", "!", "AAAA", Data(whole.prefix(16)).base64URL, Data(whole.prefix(31)).base64URL, Data(whole.prefix(47)).base64URL,
        ]
        // A wrong padding, and bytes that are not UTF-8.
        texts.append(Data(whole.dropLast(16)).base64URL)
        for place in [whole.count - 1, whole.count - 17] {
            var damaged = whole
            damaged[place] ^= 0x80
            texts.append(damaged.base64URL)
        }
        texts.append(try encryption.encrypt("sample://a\u{0}b"))
        var garbled = whole
        garbled[16] ^= 1
        texts.append(garbled.base64URL)
        // Then
        for text in texts {
            XCTAssertThrowsError(try encryption.decrypt(text), text) { XCTAssertEqual($0 as? RequestError, failure, text) }
        }
        let other = try XCTUnwrap(SourceEncryption(key: [UInt8](repeating: 9, count: 32)))
        XCTAssertThrowsError(try other.decrypt(whole.base64URL)) { XCTAssertEqual($0 as? RequestError, failure) }
    }

    func testThatAKeyHas16Or24Or32Bytes() throws {
        for size in [0, 15, 17, 31, 33] { XCTAssertNil(SourceEncryption(key: [UInt8](repeating: 1, count: size))) }
        for text in ["00", "xyz", String(repeating: "0", count: 33)] {
            XCTAssertThrowsError(try ConfigurationDecoder().decode(SourceEncryption.self, from: .scalar(text)), text)
        }
        let key = (0..<32).map { String(format: "%02x", $0) }.joined()
        let decoded = try ConfigurationDecoder().decode(SourceEncryption.self, from: .scalar(key))
        XCTAssertEqual(try decoded.encrypt(url), try encryption().encrypt(url))
    }

    func testThatAPathIsReadWithItsPartsAndItsExtension() throws {
        // Given
        let grammar = try ImageOptions(formats: [.jpeg, .png])
        for (path, text, format) in [
            ("s/enc/abc", "abc", nil), ("s/w:10/rt:fill/enc/ab/c_-/d.png", "abc_-d", ImageFormat.png),
            ("s/enc/ab/plain/x", "abplainx", nil),
        ] {
            let read = try ImagePath(path[...], grammar, signedBy: nil)
            XCTAssertEqual(read.source, .encrypted(text), path)
            XCTAssertEqual(read.options.transform.format, format)
        }
        // A plain URL may contain the word.
        XCTAssertEqual(try ImagePath("s/plain/https://h/enc/a.jpg", grammar, signedBy: nil).source, .url("https://h/enc/a.jpg"))
        XCTAssertEqual(
            try ImagePath("s/w:10/plain/https://h/enc/a.jpg", grammar, signedBy: nil).source, .url("https://h/enc/a.jpg"))
    }

    func testThatAPlainPathIsMadeAnEncryptedOne() throws {
        let encryption = try encryption()
        let path = try encryption.encrypting(path: "/w:10/plain/https%3A%2F%2Fh%2F%25a%40b@png")
        XCTAssertEqual(path, "/w:10/enc/\(try encryption.encrypt("https://h/%a@b")).png")
        XCTAssertEqual(try encryption.encrypting(path: "/plain/sample://1"), "/enc/\(try encryption.encrypt("sample://1"))")
        XCTAssertThrowsError(try encryption.encrypting(path: "/w:10/aHR0cA"))
    }
}
