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
        let signing = Signature(configuration, isLoopback: false)
        // Then what either signed is good, and the first signs
        XCTAssertNoThrow(try signing.check(signature, of: path))
        let own = try XCTUnwrap(signing.sign(path))
        XCTAssertNotEqual(own, signature)
        XCTAssertNoThrow(try signing.check(own, of: path))
    }

    func testThatUnsafeNeedsLoopbackOrTheConfigurationsWord() {
        var allowed = SigningConfiguration()
        allowed.unsafe = true
        XCTAssertNoThrow(try Signature(SigningConfiguration(), isLoopback: true).check("unsafe", of: path))
        XCTAssertNoThrow(try Signature(allowed, isLoopback: false).check("unsafe", of: path))
        XCTAssertThrowsError(try Signature(SigningConfiguration(), isLoopback: false).check("unsafe", of: path))
        XCTAssertNil(Signature(SigningConfiguration(), isLoopback: true).sign(path))
    }

    private func pair() throws -> SigningConfiguration.Pair {
        .init(key: try XCTUnwrap([UInt8](hex: "736563726574")), salt: try XCTUnwrap([UInt8](hex: "68656C6C6F")))
    }

    private func signing() throws -> Signature {
        var configuration = SigningConfiguration()
        configuration.keys = [try pair()]
        return Signature(configuration, isLoopback: true)
    }
}
