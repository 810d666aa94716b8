import OnesheetCrypto
import OnesheetValues
import XCTest

final class AESCBCTests: XCTestCase {
    /// The text and the initialisation vector of NIST SP 800-38A, F.2.
    private let text =
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    private let vector = [UInt8](0...15)

    private func cipher() throws -> AESCBC { try XCTUnwrap(AESCBC(key: [UInt8](0..<32))) }

    func testThatTextsAreEncryptedAsTheStandardSays() throws {
        let text = try XCTUnwrap([UInt8](hex: text))
        // F.2.1 to F.2.6. The last block is the padding, which the standard does not have; `openssl enc` gives the same.
        for (key, encrypted) in [
            (
                "2b7e151628aed2a6abf7158809cf4f3c",
                "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e22229516"
                    + "3ff1caa1681fac09120eca307586e1a78cb82807230e1321d3fae00d18cc2012"
            ),
            (
                "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
                "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a571b242012fb7ae07fa9baac3df102e0"
                    + "08b0e27988598881d920a9e64f5615cd612ccd79224b350935d45dd6a98f8176"
            ),
            (
                "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461"
                    + "b2eb05e2c39be9fcda6c19078c6a9d1b3f461796d6b0d6b2e0c2a72b4d80e644"
            ),
        ] {
            let cipher = try XCTUnwrap([UInt8](hex: key).flatMap(AESCBC.init))
            XCTAssertEqual(try cipher.encrypt(text, vector: vector).hexadecimal, encrypted)
            XCTAssertEqual(try cipher.decrypt(XCTUnwrap([UInt8](hex: encrypted)), vector: vector), text)
        }
    }

    func testThatTextsOfEveryLengthComeBack() throws {
        let cipher = try cipher()
        for count in 0...49 {
            let text = [UInt8](repeating: 7, count: count)
            let encrypted = try cipher.encrypt(text, vector: vector)
            XCTAssertEqual(encrypted.count, (count / 16 + 1) * 16)
            XCTAssertEqual(try cipher.decrypt(encrypted, vector: vector), text)
        }
    }

    func testThatDamagedTextsCannotBeDecrypted() throws {
        // Given
        let cipher = try cipher()
        let whole = try cipher.encrypt([UInt8](repeating: 0xee, count: 30), vector: vector)
        // Then texts of other lengths are refused
        for count in 0..<whole.count {
            XCTAssertThrowsError(try cipher.decrypt(whole[..<count], vector: vector), "\(count)") {
                XCTAssertTrue($0 is CipherError)
            }
        }
        // And texts whose padding, two bytes of 2 that the block before changes, is another
        for (place, mask) in [(15, 0x12), (15, 0x02), (15, 0x80), (14, 0x01)] as [(Int, UInt8)] {
            var damaged = whole
            damaged[place] ^= mask
            XCTAssertThrowsError(try cipher.decrypt(damaged, vector: vector), "\(place) \(mask)")
        }
        // And the whole text still comes back
        XCTAssertEqual(try cipher.decrypt(whole, vector: vector), [UInt8](repeating: 0xee, count: 30))
    }

    func testThatOtherLengthsOfKeysAndVectorsAreRefused() throws {
        for size in [0, 15, 17, 31, 33] { XCTAssertNil(AESCBC(key: [UInt8](repeating: 1, count: size))) }
        for size in [0, 15, 17] {
            XCTAssertThrowsError(try cipher().encrypt([1], vector: [UInt8](repeating: 1, count: size)))
            XCTAssertThrowsError(try cipher().decrypt([UInt8](repeating: 1, count: 16), vector: [UInt8](repeating: 1, count: size)))
        }
    }
}
