import OnesheetCore
import OnesheetTesting
import XCTest

@testable import Dialects

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
            ("rotate=-90,flip=h/sample://1", ["rotate:-90", "flip:false:true"]),
            ("background=rgb(255%2C0%2C0)/sample://1", ["background:255:0:0"]),
            ("background=%23ff0000/sample://1", ["background:ff0000"]), ("background=Tomato/sample://1", ["background:ff6347"]),
            ("q=high/sample://1", ["quality:90"]), ("quality=medium-low/sample://1", ["quality:65"]),
            ("f=webp/sample://1", ["format:webp"]), ("f=avif/sample://1", ["format:avif"]),
            ("trim=border/sample://1", ["trim:10"]), ("trim=20;30;20;0/sample://1", ["inset:20:30:20:0"]),
            ("trim=20%3B30%3B20%3B0,w=60/sample://1", ["inset:20:30:20:0", "w:60"]),
            ("trim.border.tolerance=20,trim.border.color=rgb(255%2C0%2C0)/sample://1", ["trim:20:255:0:0"]),
            ("trim.left=10,trim.width=50/sample://1", ["crop:50:65535:nowe:10:0"]),
            ("f=auto,compression=fast/sample://1", ["format:jpeg"]),
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
            ("w=auto/sample://1", "hints"), ("border=1/sample://1", "option “border”"),
            ("contrast=2/sample://1", "not supported here"),
            ("scq=50/sample://1", "connection"), ("trim.left=x/sample://1", "trim.left"), ("compression=slow/sample://1", "slow"),
            ("onerror=redirect/sample://1", "https URL"), ("onerror=x/sample://1", "“x”"),
            ("gravity=face/sample://1", "face"),
            ("trim=auto/sample://1", "needs border"), ("trim=1;2;3/sample://1", "20;30;20;0"),
            ("trim=1;2;3;-4/sample://1", "20;30;20;0"),
            ("trim=1;2;3;4,trim.left=5/sample://1", "trim.left"),
            ("trim.border.keep=5/sample://1", "trim.border.keep"), ("border.width=5/sample://1", "exists only in Workers"),
            ("format=json/sample://1", "/explain"),
            ("w=60/uploads/a.jpg", "is not a source URL"),
        ] as [(Substring, String)] {
            XCTAssertThrowsError(try CloudflareDialect().image(at: address, on: server), "\(address)") { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }

    func testThatClientsAreSentToTheOriginal() throws {
        for (address, place) in [
            ("onerror=redirect/https://a.example/b%20c.jpg?x=1", "https://a.example/b%20c.jpg?x=1"),
            ("onerror=redirect/https%3A%2F%2Fa.example%2Fb%20c.jpg", "https://a.example/b%20c.jpg"),
        ] as [(Substring, String)] {
            XCTAssertEqual(try CloudflareDialect().image(at: address, on: server)?.fallback, place)
        }
        XCTAssertNil(try CloudflareDialect().image(at: "w=1/https://a.example/b", on: server)?.fallback)
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
