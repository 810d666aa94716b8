import OnesheetCrypto
import OnesheetValues
import XCTest

final class HMACTests: XCTestCase {
    private func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    private let largeKey = "Test Using Larger Than Block-Size Key - Hash Key First"

    func testThatCodesAreThoseOfRFC4231() {
        let both =
            "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before "
            + "being used by the HMAC algorithm."
        for (key, message, code) in [
            (bytes(0x0b, 20), Array("Hi There".utf8), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (bytes(0xaa, 20), bytes(0xdd, 50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            (Array(1...25), bytes(0xcd, 50), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            (bytes(0xaa, 131), Array(largeKey.utf8), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
            (bytes(0xaa, 131), Array(both.utf8), "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
        ] {
            XCTAssertEqual(HMAC.sha256(of: message, key: key).hexadecimal, code)
        }
        XCTAssertEqual(
            HMAC.sha256(of: "Test With Truncation".utf8, key: bytes(0x0c, 20)).prefix(16).hexadecimal,
            "a3b6167473100ee06e0c796c2955552b")
    }

    func testThatCodesWithSHA1AreThoseOfRFC2202() {
        for (key, message, code) in [
            (bytes(0x0b, 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
            (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (bytes(0xaa, 20), bytes(0xdd, 50), "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
            (bytes(0xaa, 80), Array(largeKey.utf8), "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
        ] {
            XCTAssertEqual(HMAC.sha1(of: message, key: key).hexadecimal, code)
        }
    }

    func testThatKeysAndMessagesMayBeEmpty() {
        // printf message | openssl dgst -sha256 -mac HMAC -macopt hexkey:
        for (key, message, code) in [
            ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
            ("", "message", "eb08c1f56d5ddee07f7bdf80468083da06b64cf4fac64fe3a90883df5feacae4"),
            ("key", "", "5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0"),
        ] {
            XCTAssertEqual(HMAC.sha256(of: message.utf8, key: key.utf8).hexadecimal, code)
            XCTAssertEqual(HMAC.sha256(of: Array(message.utf8), key: Array(key.utf8)).hexadecimal, code)
        }
        XCTAssertEqual(HMAC.sha1(of: [], key: []).hexadecimal, "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
    }

    func testThatEqualMeansEveryByte() {
        // Given
        let bytes = Array(HMAC.sha256(of: [1], key: [2]))
        // Then
        XCTAssertTrue(ConstantTime.areEqual(bytes, bytes.lazy.map { $0 }))
        XCTAssertTrue(ConstantTime.areEqual([], []))
        XCTAssertFalse(ConstantTime.areEqual(bytes, bytes.dropLast()))
        XCTAssertFalse(ConstantTime.areEqual([], bytes))
        for place in bytes.indices {
            var other = bytes
            other[place] ^= 0x80
            XCTAssertFalse(ConstantTime.areEqual(bytes, other), "\(place)")
        }
        XCTAssertEqual(HMAC.sha256(of: [1], key: [2]), HMAC.sha256(of: [1], key: [2]))
        XCTAssertNotEqual(HMAC.sha256(of: [1], key: [2]), HMAC.sha256(of: [1], key: [3]))
        XCTAssertNotEqual(HMAC.sha256(of: [1], key: [2]), HMAC.sha1(of: [1], key: [2]))
    }
}
