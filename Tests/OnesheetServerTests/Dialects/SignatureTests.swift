import FoundationEssentials
import OnesheetCore
import XCTest

@testable import OnesheetServer

final class SignatureTests: XCTestCase {
    /// imgproxy's documented vector.
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

    func testThatEveryKeyIsAccepted() throws {
        // Given two keys, as while they are changed
        var configuration = SigningConfiguration()
        configuration.keys = [.init(key: [1], salt: [2]), try pair()]
        let signing = Signature(configuration, needsKey: true)
        // Then what either signed is good, and the first signs
        XCTAssertNoThrow(try signing.check(signature, of: path))
        let own = try XCTUnwrap(signing.sign(path))
        XCTAssertNotEqual(own, signature)
        XCTAssertNoThrow(try signing.check(own, of: path))
    }

    func testThatUnsafeNeedsLoopbackOrTheConfigurationsWord() {
        var allowed = SigningConfiguration()
        allowed.unsafe = true
        XCTAssertNoThrow(try Signature(SigningConfiguration(), needsKey: false).check("unsafe", of: path))
        XCTAssertNoThrow(try Signature(allowed, needsKey: true).check("unsafe", of: path))
        XCTAssertThrowsError(try Signature(SigningConfiguration(), needsKey: true).check("unsafe", of: path))
        XCTAssertNil(Signature(SigningConfiguration(), needsKey: false).sign(path))
    }

    func testThatAShorterSignatureIsTheBeginningOfTheWholeOne() throws {
        // Given signatures of 10 bytes, and a key from before
        var configuration = SigningConfiguration()
        configuration.keys = [try pair(), .init(key: [1], salt: [2])]
        configuration.size = 10
        let signing = Signature(configuration, needsKey: true)
        // Then they are the first ten of thirty-two, and nothing longer, shorter or different is one
        let short = try XCTUnwrap(signing.sign(path))
        XCTAssertEqual(Data(base64URL: short), Data(base64URL: signature)?.prefix(10))
        XCTAssertNoThrow(try signing.check(short, of: path))
        for other in [signature, String(short.dropLast(2)), "A" + short.dropFirst(), String(short.dropLast()) + "w", ""] {
            XCTAssertThrowsError(try signing.check(other, of: path), other)
        }
        XCTAssertThrowsError(try signing.check(short, of: path + "x"))
    }

    func testThatASignatureThatIsTooShortToBeSafeIsRefused() {
        for size in ["7", "33", "-1", "ten"] {
            XCTAssertThrowsError(
                try ConfigurationFile(environment: [:]).parse("signing: { size: \(size) }\nsources: { a: { type: sample } }"), size)
        }
    }

    private func pair() throws -> SigningConfiguration.Pair {
        .init(key: try XCTUnwrap([UInt8](hex: "736563726574")), salt: try XCTUnwrap([UInt8](hex: "68656C6C6F")))
    }

    private func signing() throws -> Signature {
        var configuration = SigningConfiguration()
        configuration.keys = [try pair()]
        return Signature(configuration, needsKey: false)
    }
}
