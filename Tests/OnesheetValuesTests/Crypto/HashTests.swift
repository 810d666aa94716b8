import OnesheetCrypto
import OnesheetValues
import XCTest

final class HashTests: XCTestCase {
    private static let long =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"

    func testThatSHA256GivesTheDigestsOfTheStandard() {
        // The examples of FIPS 180-4, and the empty text.
        let digests = [
            "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            Self.long: "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
            String(repeating: "a", count: 1_000_000): "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        ]
        for (text, digest) in digests { XCTAssertEqual(SHA256.hash(text.utf8).hexadecimal, digest, "\(text.prefix(120))") }
    }

    func testThatSHA1AndMD5GiveTheDigestsOfTheirStandards() {
        XCTAssertEqual(Insecure.SHA1.hash("".utf8).hexadecimal, "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        XCTAssertEqual(Insecure.SHA1.hash("abc".utf8).hexadecimal, "a9993e364706816aba3e25717850c26c9cd0d89d")
        XCTAssertEqual(Insecure.SHA1.hash(Self.long.utf8).hexadecimal, "a49b2446a02c645bf419f995b67091253a04a259")
        XCTAssertEqual(Insecure.MD5.hash("".utf8).hexadecimal, "d41d8cd98f00b204e9800998ecf8427e")
        XCTAssertEqual(Insecure.MD5.hash("abc".utf8).hexadecimal, "900150983cd24fb0d6963f7d28e17f72")
        XCTAssertEqual(Insecure.MD5.hash("message digest".utf8).hexadecimal, "f96b697d7cb7938d525a2f31aaf161d0")
    }

    func testThatPiecesHaveTheDigestOfTheWhole() {
        // Given
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let whole = SHA256.hash(bytes)
        for place in 0...bytes.count {
            // When
            var hash = SHA256()
            hash.update(bytes[..<place])
            hash.update([])
            hash.update(bytes[place...])
            let digest = hash.finalize()
            // Then
            XCTAssertEqual(digest, whole, "\(place)")
        }
    }

    func testThatTheSequenceMakesNoDifference() {
        // Given bytes that are in one piece in memory, and bytes that are not
        let bytes = Array("한 poster".utf8)
        let whole = SHA256.hash(bytes)
        // Then
        XCTAssertEqual(SHA256.hash("한 poster".utf8), whole)
        XCTAssertEqual(SHA256.hash("a 한 poster".utf8.dropFirst(2)), whole)
        XCTAssertEqual(SHA256.hash(bytes.lazy.map { $0 }), whole)
        XCTAssertEqual(SHA256.hash(AnySequence(bytes)), whole)
        XCTAssertEqual(bytes.withUnsafeBytes { SHA256.hash($0) }, whole)
        XCTAssertEqual(SHA256.hash(UnsafeRawBufferPointer(start: nil, count: 0)), SHA256.hash([]))
    }

    func testThatADigestHasItsBytesAndNoMore() {
        let digest = Insecure.MD5.hash("abc".utf8)
        XCTAssertEqual(digest.count, 16)
        XCTAssertEqual(Array(digest).count, 16)
        XCTAssertEqual(digest.withUnsafeBytes { Array($0) }, Array(digest))
        XCTAssertEqual(digest.prefix(2).hexadecimal, "9001")
        XCTAssertEqual(Insecure.SHA1.hash([]).count, Insecure.SHA1.size)
    }

    func testThatThreadsGetTheirOwnDigests() {
        // Given
        let expected = (0..<64).map { SHA256.hash([UInt8](repeating: $0, count: 10_000)) }
        // Then
        DispatchQueue.concurrentPerform(iterations: 256) { number in
            let byte = UInt8(number % 64)
            XCTAssertEqual(SHA256.hash([UInt8](repeating: byte, count: 10_000)), expected[Int(byte)])
        }
    }
}
