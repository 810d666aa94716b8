import OnesheetCore
import OnesheetTesting
import XCTest

@testable import Dialects

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
            ("unsafe/10x20:60x70/filters:format(png):blur(9,2)/sample://1", ["crop:50:50:nowe:10:20", "format:png", "blur:2.0"]),
            (
                "unsafe/60x90/smart/filters:quality(50)/sample://1",
                ["width:60", "height:90", "enlarge:1", "resizing_type:fill", "gravity:sm", "quality:50"]
            ),
            ("unsafe/sample://1", []),
            ("unsafe/full-fit-in/300x450/sample://1", ["width:300", "height:450", "resizing_type:cover"]),
            ("unsafe/trim/fit-in/30x45/sample://1", ["trim:0", "width:30", "height:45"]),
            ("unsafe/trim:top-left:10/sample://1", ["trim:10"]),
            ("unsafe/trim:20/10x20:60x70/sample://1", ["trim:20", "crop:50:50:nowe:10:20"]),
            ("unsafe/filters:grayscale():fill(navy)/sample://1", ["gray:1", "extend:1", "background:000080"]),
            ("unsafe/filters:background_color(RebeccaPurple)/sample://1", ["background:663399"]),
            // Counterclockwise there, clockwise here, and before the picture is resized.
            (
                "unsafe/60x90/left/filters:rotate(90)/sample://1",
                ["rotate:270", "width:90", "height:60", "enlarge:1", "resizing_type:fill", "gravity:so"]
            ),
            (
                "unsafe/-60x90/top/filters:rotate(270)/sample://1",
                ["rotate:90", "width:90", "height:60", "flip:false:true", "enlarge:1", "resizing_type:fill", "gravity:ea"]
            ),
            ("unsafe/filters:rotate(180)/sample://1", ["rotate:180"]),
            (
                "unsafe/60x90/left/filters:focal(146x206:279x360)/sample://1",
                ["width:60", "height:90", "enlarge:1", "resizing_type:fill", "gravity:pt:212.5:283.0"]
            ),
            ("unsafe/fit-in/60x90/filters:focal(1x2:3x4)/sample://1", ["width:60", "height:90"]),
        ] as [(Substring, [String])] {
            let image = try XCTUnwrap(try ThumborDialect().image(at: address, on: server), "\(address)")
            XCTAssertEqual(image.options, options, "\(address)")
            XCTAssertEqual(image.title, TitleReference(source: "sample", id: "1"), "\(address)")
        }
    }

    func testThatABlurHasTheDeviationOfThumborsKernel() throws {
        for (filter, deviation) in [
            // The deviation of a Gaussian of that deviation which ends at the radius: sqrt(Σ w x² / Σ w)
            ("blur(5)", 2.919_824), ("blur(5,0)", 2.919_824), ("blur(1)", 0.740_363), ("blur(4,2)", 1.851_556), ("blur(6,2)", 2),
            ("blur(150,200)", 83.641_448), ("blur(300,100)", 74.435_263),
            // thumbor's kernels end at 150 at the latest
            ("blur(200)", 83.641_448), ("blur(9000000000000000000)", (150.0 * 151 / 3).squareRoot()),
        ] {
            let image = try ThumborDialect().image(at: "unsafe/filters:\(filter)/sample://1", on: server)
            let option = try XCTUnwrap(image?.options.first)
            XCTAssertEqual(try XCTUnwrap(Double(option.dropFirst("blur:".count))), deviation, accuracy: 1e-6, filter)
        }
    }

    func testThatASourceURLMayBeginWithItsHost() throws {
        for (address, id) in [
            ("unsafe/60x/images.example.com/a%20b.jpg", "images.example.com/a%20b.jpg"),
            ("unsafe/60x/images.example.com%3A8080%2Fa.jpg", "images.example.com:8080/a.jpg"),
            ("unsafe/localhost:8080/a.jpg?x=1", "localhost:8080/a.jpg?x=1"),
        ] as [(Substring, String)] {
            let image = try ThumborDialect().image(at: address, on: server)
            XCTAssertEqual(image?.title, TitleReference(source: "https", id: id), "\(address)")
        }
    }

    func testThatAnAddressThatCannotBeReadSaysWhy() {
        for (address, words) in [
            ("unsafe", "/thumbor/{signature}/"),
            ("wrong/60x90/sample://1", "signature"),
            ("wrong/1x2x3/sample://1", "signature"),
            ("unsafe/meta/60x90/sample://1", "“meta” is not supported"),
            ("unsafe/1x2x3/sample://1", "1x2x3"), ("unsafe/adaptive-fit-in/1x2/sample://1", "“adaptive-fit-in” is not supported"),
            ("unsafe/trim:bottom-right/sample://1", "bottom-right"), ("unsafe/filters:rotate(45)/sample://1", "45"),
            ("unsafe/filters:focal(1x2)/sample://1", "1x2"), ("unsafe/filters:fill(auto)/sample://1", "“auto” is neither"),
            ("unsafe/9x9:9x9/sample://1", "9x9:9x9"),
            ("unsafe/filters:qualty(80)/sample://1", "did you mean “quality”?"),
            ("unsafe/filters:quality(80)", "do not end"), ("unsafe/filters:blur(0)/sample://1", "needs a whole radius"),
            ("unsafe/filters:blur(1.5)/sample://1", "needs a whole radius"),
            ("unsafe/filters:blur(5,nan)/sample://1", "needs a whole radius"),
            ("unsafe/filters:blur(5,-1)/sample://1", "needs a whole radius"),
            ("unsafe/smrt", "is not a source URL"),
        ] as [(Substring, String)] {
            XCTAssertThrowsError(try ThumborDialect().image(at: address, on: server), "\(address)") { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }
}
