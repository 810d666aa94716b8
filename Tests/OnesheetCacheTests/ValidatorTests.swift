import NIOCore
import OnesheetCache
import XCTest

final class ValidatorTests: XCTestCase {
    func testThatTheValidatorIsTheStartOfTheSHA256InBase64URL() {
        // printf abc | openssl dgst -sha256 -binary | head -c 16 | basenc --base64url
        XCTAssertEqual(Validator.of(ByteBuffer(string: "abc")), "ungWv48Bz-pBQUDeXa4iIw")
        XCTAssertEqual(Validator.of(ByteBuffer()), "47DEQpj8HBSa-_TImW-5JA")
    }

    func testThatOnlyTheReadableBytesCount() {
        var buffer = ByteBuffer(string: "xxabcyy")
        buffer.moveReaderIndex(forwardBy: 2)
        buffer.moveWriterIndex(to: 5)

        XCTAssertEqual(Validator.of(buffer), Validator.of(ByteBuffer(string: "abc")))
    }
}
