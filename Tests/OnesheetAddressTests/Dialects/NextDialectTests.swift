import OnesheetCore
import OnesheetTesting
import XCTest

@testable import Dialects

/// Addresses and their translations. Server tests cover the responses.
final class NextDialectTests: XCTestCase {
    private let server = FakeDialectServer()

    func testThatAddressesAreTranslated() throws {
        for (address, options) in [
            ("?url=sample%3A%2F%2F1&w=96&q=75", ["w:96", "q:75"]),
            ("?dpl=x&q=80&w=92&url=sample://1", ["w:92", "q:80"]),
        ] as [(Substring, [String])] {
            let image = try XCTUnwrap(try NextDialect().image(at: address, on: server), "\(address)")
            XCTAssertEqual(image.options, options, "\(address)")
            XCTAssertEqual(image.title, TitleReference(source: "sample", id: "1"), "\(address)")
        }
    }

    func testThatAnAddressThatCannotBeReadSaysWhy() {
        for (address, words) in [
            ("", "query"),
            ("?url=sample://1&w=97&q=75", "needs one of 16, 32,"),
            ("?url=sample://1&w=96", "“q”"),
            ("?w=96&q=75", "“url”"),
            ("?url=sample://1&w=96&w=128&q=75", "“w”"),
            ("?url=%2Fposter.jpg&w=96&q=75", "/poster.jpg"),
            ("?url=%zz&w=96&q=75", "%zz"),
        ] as [(Substring, String)] {
            XCTAssertThrowsError(try NextDialect().image(at: address, on: server), "\(address)") { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }

    func testThatNothingIsReadWithoutLeave() {
        // Given a server that accepts only signed addresses
        let strict = FakeDialectServer(acceptsUnsigned: false)
        for address in ["?url=sample://1&w=96&q=75", "?url=sample://1&w=97&q=75"] as [Substring] {
            // Then an address is refused before it is parsed, even an invalid one
            XCTAssertThrowsError(try NextDialect().image(at: address, on: strict)) { error in
                XCTAssertEqual(error as? RequestError, .forbidden("only what was signed"), "\(address)")
            }
        }
    }
}
