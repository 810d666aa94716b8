import OnesheetCore
import OnesheetTesting
import XCTest

@testable import CloudflareDialect

/// Addresses and their translations. Server tests cover the responses.
final class CloudflareDialectTests: XCTestCase {
    private let server = FakeDialectServer()

    func testThatAddressesAreTranslated() throws {
        for (address, options) in [
            ("width=92,format=jpeg/sample://1", ["width:92", "format:jpeg"]),
            ("w=92,f=auto/sample%3A%2F%2F1", ["w:92"]),
            (
                "w=60,h=90,fit=cover,gravity=0.5x0.25,f=png/sample://1",
                ["w:60", "h:90", "resizing_type:fill", "enlarge:1", "gravity:fp:0.5:0.25", "format:png"]
            ),
            ("h=60,rotate=90,flip=h/sample://1", ["h:60", "rotate:90", "flip:false:true"]),
            ("background=rgb(255%2C0%2C0)/sample://1", ["background:255:0:0"]),
            ("background=%23ff0000/sample://1", ["background:ff0000"]),
        ] as [(Substring, [String])] {
            let image = try XCTUnwrap(try CloudflareDialect().image(at: address, on: server), "\(address)")
            XCTAssertEqual(image.options, options, "\(address)")
            XCTAssertEqual(image.title, TitleReference(source: "sample", id: "1"), "\(address)")
        }
    }

    func testThatAnAddressThatCannotBeReadSaysWhy() {
        for (address, words) in [
            ("", "/cdn-cgi/image/{options}/{url}"),
            ("/sample://1", "width=300"),
            ("widht=1/sample://1", "did you mean “width”?"),
            ("w=/sample://1", "“w=”"),
            ("fit=fill/sample://1", "fill"),
            ("gravity=face/sample://1", "face"),
            ("trim=auto/sample://1", "unknown option “trim”"),
            ("w=60/uploads/a.jpg", "is not a source URL"),
        ] as [(Substring, String)] {
            XCTAssertThrowsError(try CloudflareDialect().image(at: address, on: server), "\(address)") { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }

    func testThatNothingIsReadWithoutLeave() {
        // Given a server that accepts only signed addresses
        let strict = FakeDialectServer(acceptsUnsigned: false)
        for address in ["w=60/sample://1", "widht=1/sample://1"] as [Substring] {
            // Then an address is refused before it is parsed, even an invalid one
            XCTAssertThrowsError(try CloudflareDialect().image(at: address, on: strict)) { error in
                XCTAssertEqual(error as? RequestError, .forbidden("only what was signed"), "\(address)")
            }
        }
    }

    func testThatTheFormatIsNegotiatedOnRequest() throws {
        for (address, negotiates) in [("f=auto/sample://1", true), ("w=1/sample://1", false), ("f=png/sample://1", false)] {
            let image = try CloudflareDialect().image(at: Substring(address), on: server)
            XCTAssertEqual(image?.negotiates, negotiates, address)
        }
    }
}
