import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ThumborDialect

/// Addresses and their translations. Server tests cover the responses.
final class ThumborDialectTests: XCTestCase {
    private let server = FakeDialectServer()

    func testThatAddressesAreTranslated() throws {
        for (address, options) in [
            ("unsafe/60x90/sample://1", ["width:60", "height:90", "enlarge:1", "resizing_type:fill"]),
            ("unsafe/fit-in/300x450/sample%3A%2F%2F1", ["width:300", "height:450"]),
            (
                "unsafe/-60x90/left/sample://1",
                ["width:60", "height:90", "flip:true:false", "enlarge:1", "resizing_type:fill", "gravity:ea"]
            ),
            ("unsafe/10x20:60x70/filters:format(png):blur(9,2)/sample://1", ["crop:50:50:nowe:10:20", "format:png", "blur:2"]),
            (
                "unsafe/60x90/smart/filters:quality(50)/sample://1",
                ["width:60", "height:90", "enlarge:1", "resizing_type:fill", "gravity:sm", "quality:50"]
            ),
            ("unsafe/sample://1", []),
        ] as [(Substring, [String])] {
            let image = try XCTUnwrap(try ThumborDialect().image(at: address, on: server), "\(address)")
            XCTAssertEqual(image.options, options, "\(address)")
            XCTAssertEqual(image.title, TitleReference(source: "sample", id: "1"), "\(address)")
        }
    }

    func testThatAnAddressThatCannotBeReadSaysWhy() {
        for (address, words) in [
            ("unsafe", "/thumbor/{signature}/"),
            ("wrong/60x90/sample://1", "signature"),
            ("wrong/1x2x3/sample://1", "signature"),
            ("unsafe/meta/60x90/sample://1", "“meta” is not supported"),
            ("unsafe/1x2x3/sample://1", "1x2x3"),
            ("unsafe/9x9:9x9/sample://1", "9x9:9x9"),
            ("unsafe/filters:qualty(80)/sample://1", "did you mean “quality”?"),
            ("unsafe/filters:quality(80)", "do not end"),
            ("unsafe/smrt", "is not a source URL"),
        ] as [(Substring, String)] {
            XCTAssertThrowsError(try ThumborDialect().image(at: address, on: server), "\(address)") { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }
}
