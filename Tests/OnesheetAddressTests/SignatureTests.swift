import FoundationEssentials
import OnesheetValues
import XCTest

@testable import OnesheetAddress

final class SignatureTests: XCTestCase {
    /// The test vector of imgproxy's documentation.
    private let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
    private let signature = "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8"

    func testThatTheDocumentedVectorIsSignedSo() throws {
        XCTAssertEqual(try signing().sign(path), signature)
    }

    func testThatTheDocumentedVectorIsAccepted() throws {
        XCTAssertNoThrow(try signing().check(signature, of: path))
    }

    func testThatAnyOtherPathOrSignatureIsRefused() throws {
        let signing = try signing()
        for (signature, path) in [
            (signature, path + "x"), (String(signature.dropLast()), path), ("A" + signature.dropFirst(), path), ("", path),
            ("unsafe", path),
            ("ö", path), (signature + signature, path),
        ] {
            XCTAssertThrowsError(try signing.check(signature, of: path), signature) {
                XCTAssertEqual($0 as? RequestError, .badSignature)
            }
        }
    }

    func testSignatureHasOneSpelling() throws {
        let signing = try signing()
        XCTAssertNoThrow(try signing.check(signature + "=", of: path))
        for end in ["9", "-", "8==", "8=8", "=8"] {
            XCTAssertThrowsError(try signing.check(signature.dropLast() + end, of: path), end)
        }
    }

    func testThatEveryKeyIsAccepted() throws {
        // Given two keys, as during a key rotation
        let signing = Signature(keys: [SigningKey(key: [1], salt: [2]), try documentedKey()])
        // Then signatures of both are valid, and the first key signs
        XCTAssertNoThrow(try signing.check(signature, of: path))
        let own = try XCTUnwrap(signing.sign(path))
        XCTAssertNotEqual(own, signature)
        XCTAssertNoThrow(try signing.check(own, of: path))
    }

    func testThatTheWordUnsafeIsOnlyGoodWhereItIsAccepted() {
        XCTAssertNoThrow(try Signature(keys: [], acceptsUnsafe: true).check("unsafe", of: path))
        XCTAssertThrowsError(try Signature(keys: []).check("unsafe", of: path))
        XCTAssertNil(Signature(keys: [], acceptsUnsafe: true).sign(path))
    }

    func testThatInsecureAndUnderscoreReplaceASignatureWhereUnsafeDoes() throws {
        for word in ["insecure", "_"] {
            XCTAssertNoThrow(try Signature(keys: [], acceptsUnsafe: true).check(word, of: path))
            XCTAssertThrowsError(try Signature(keys: []).check(word, of: path))
            // thumbor's clients write only `unsafe`
            XCTAssertThrowsError(try Signature(keys: [], acceptsUnsafe: true).check(thumbor: word, of: path))
        }
    }

    func testThatOtherTextsReplaceNoSignature() {
        for other in ["", "Insecure", "__", signature] {
            XCTAssertThrowsError(try Signature(keys: [], acceptsUnsafe: true).check(other, of: path), other)
        }
    }

    func testThatEncryptedAddressesNeedASignatureWhateverIsAccepted() {
        for word in ["unsafe", "insecure", "_"] {
            XCTAssertThrowsError(try Signature(keys: [], acceptsUnsafe: true).check(signed: word, of: path), word)
        }
    }

    func testThatAShorterSignatureIsTheBeginningOfTheWholeOne() throws {
        // Given signatures of 10 bytes, and an earlier key
        let signing = Signature(keys: [try documentedKey(), SigningKey(key: [1], salt: [2])], size: 10)
        // Then a signature is the first ten of thirty-two bytes. Longer, shorter and other ones are invalid
        let short = try XCTUnwrap(signing.sign(path))
        XCTAssertEqual(Data(base64URL: short), Data(base64URL: signature)?.prefix(10))
        XCTAssertNoThrow(try signing.check(short, of: path))
        for other in [signature, String(short.dropLast(2)), "A" + short.dropFirst(), String(short.dropLast()) + "w", ""] {
            XCTAssertThrowsError(try signing.check(other, of: path), other)
        }
        XCTAssertThrowsError(try signing.check(short, of: path + "x"))
    }

    private func documentedKey() throws -> SigningKey {
        SigningKey(key: try XCTUnwrap([UInt8](hex: "736563726574")), salt: try XCTUnwrap([UInt8](hex: "68656C6C6F")))
    }

    private func signing() throws -> Signature {
        Signature(keys: [try documentedKey()])
    }
}
