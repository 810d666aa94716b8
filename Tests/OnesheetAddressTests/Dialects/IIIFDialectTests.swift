import OnesheetCore
import OnesheetTesting
import XCTest

@testable import Dialects

/// Addresses and their translations. Server tests cover the responses.
final class IIIFDialectTests: XCTestCase {
    private let server = FakeDialectServer()

    func testThatAddressesAreTranslated() throws {
        for (address, options) in [
            ("sample%3A%2F%2F1/full/92,/0/default.jpg", ["width:92", "height:0", "format:jpg"]),
            ("sample:%2F%2F1/full/60,60/0/default.jpg", ["resizing_type:force", "width:60", "height:60", "format:jpg"]),
            ("sample:%2F%2F1/full/!60,60/0/default.jpg", ["width:60", "height:60", "format:jpg"]),
            ("sample:%2F%2F1/square/60%2C/0/default.jpg", ["square:1", "width:60", "height:0", "format:jpg"]),
            ("sample:%2F%2F1/10,20,50,60/max/0/color.png", ["crop:50:60:nowe:10:20", "format:png"]),
            ("sample:%2F%2F1/0,0,100000,99999/max/0/color.png", ["crop:65535:65535:nowe:0:0", "format:png"]),
            ("sample:%2F%2F1/full/!100000,9/0/default.jpg", ["width:65535", "height:9", "format:jpg"]),
            ("sample:%2F%2F1/pct:25,0,50,100/max/0/default.png", ["crop:0.5:0.0:nowe:0.25:0.0", "format:png"]),
            ("sample:%2F%2F1/pct:0,0,100,100/max/0/default.png", ["format:png"]),
            ("sample:%2F%2F1/pct:50,75,90,90/max/0/default.png", ["crop:0.5:0.25:nowe:0.5:0.75", "format:png"]),
            ("sample:%2F%2F1/full/pct:12.5/0/default.jpg", ["zoom:0.125", "format:jpg"]),
            ("sample:%2F%2F1/full/pct:100/360/default.jpg", ["format:jpg"]),
            ("sample:%2F%2F1/full/92,/90/gray.jpg", ["rotate:90", "width:0", "height:92", "gray:1", "format:jpg"]),
            (
                "sample:%2F%2F1/full/60,30/!270/bitonal.png",
                ["rotate:90", "flip:1:0", "resizing_type:force", "width:30", "height:60", "bitonal:1", "format:png"]
            ),
        ] as [(Substring, [String])] {
            let image = try XCTUnwrap(try IIIFDialect().image(at: address, on: server), "\(address)")
            XCTAssertEqual(image.options, options, "\(address)")
            XCTAssertEqual(image.title, TitleReference(source: "sample", id: "1"), "\(address)")
        }
    }

    func testThatAnAddressThatCannotBeReadSaysWhy() {
        for (address, words) in [
            ("sample:%2F%2F1/full/max/0", "/iiif/3/{identifier}/{region}"),
            ("1/full/max/0/default.jpg", "there is nothing at /iiif/3/1"),
            ("sample://1/full/max/0/default.jpg", "there is nothing at /iiif/3/sample://1"),
            ("sample:%2F%2F1/pct:1,1,9/max/0/default.jpg", "“pct:1,1,9”"),
            ("sample:%2F%2F1/full/%5E92,/0/default.jpg", "“^92,”"),
            ("sample:%2F%2F1/full/0,/0/default.jpg", "“0,”"),
            ("sample:%2F%2F1/pct:100,0,1,1/max/0/default.jpg", "of which a part is in the image"),
            ("sample:%2F%2F1/pct:0,0,0,1/max/0/default.jpg", "of which a part is in the image"),
            ("sample:%2F%2F1/pct:-1,0,1,1/max/0/default.jpg", "“pct:-1,0,1,1”"),
            ("sample:%2F%2F1/pct:1e1,0,1,1/max/0/default.jpg", "“pct:1e1,0,1,1”"),
            ("sample:%2F%2F1/full/pct:100.1/0/default.jpg", "“pct:100.1”"), ("sample:%2F%2F1/full/pct:0/0/default.jpg", "“pct:0”"),
            ("sample:%2F%2F1/full/92,/45/default.jpg", "“45”"), ("sample:%2F%2F1/full/92,/-90/default.jpg", "“-90”"),
            ("sample:%2F%2F1/full/92,/450/default.jpg", "“450”"), ("sample:%2F%2F1/full/92,/!/default.jpg", "“!”"),
            ("sample:%2F%2F1/full/92,/0/grey.jpg", "grey"),
        ] as [(Substring, String)] {
            XCTAssertThrowsError(try IIIFDialect().image(at: address, on: server), "\(address)") { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }

    func testThatNothingIsReadWithoutLeave() {
        // Given a server that accepts only signed addresses
        let strict = FakeDialectServer(acceptsUnsigned: false)
        for address in ["sample:%2F%2F1/full/max/0/default.jpg", "sample:%2F%2F1/full/x/0/default.jpg"] as [Substring] {
            // Then an address is refused before it is parsed, even an invalid one
            XCTAssertThrowsError(try IIIFDialect().image(at: address, on: strict)) { error in
                XCTAssertEqual(error as? RequestError, .forbidden("only what was signed"), "\(address)")
            }
        }
    }

    func testThatAPictureIsAtOneAddressAndItsDocumentAtAnother() async throws {
        // Given a server with a picture of 3000 × 2000 and a limit of a million pixels
        let sizes =
            [92, 154, 185, 342, 500, 780].map { PixelSize(width: $0, height: $0 * 2 / 3) } + [PixelSize(width: 3000, height: 2000)]
        let host = DialectHost(
            url: "https://h", formats: [.jpeg, .png], makesAnything: true, mostPixels: 1_000_000, measure: { _ in sizes })
        for address in ["sample:%2F%2F1", "sample:%2F%2F1/info.json"] as [Substring] {
            XCTAssertNil(try IIIFDialect().image(at: address, on: server))
        }
        // When its base address is requested, then it redirects to the document
        guard case .redirect(let place) = try await IIIFDialect().document(at: "sample:%2F%2F1", on: server, from: host) else {
            return XCTFail("no redirect")
        }
        XCTAssertEqual(place, "/iiif/3/sample:%2F%2F1/info.json")
        // And the document has tiles of every scale, and the available sizes
        guard case .json(let json, _) = try await IIIFDialect().document(at: "sample:%2F%2F1/info.json", on: server, from: host),
            let document = json as? IIIFDocument
        else { return XCTFail("no document") }
        XCTAssertEqual(document.tiles?.first?.scaleFactors, [1, 2, 4, 8])
        XCTAssertEqual(document.sizes?.map(\.width), [92, 154, 185, 342, 500, 780], "3000 × 2000 are too many")
        XCTAssertEqual(document.extraFormats, ["png"])
        XCTAssertEqual(document.profile, "level2")
        XCTAssertEqual(document.extraQualities, ["color", "gray", "bitonal"])
        // And a server without PNG, or with presets alone, offers less
        for (formats, makesAnything, profile) in [([ImageFormat.jpeg], true, "level1"), ([.jpeg, .png], false, "level0")] {
            let less = DialectHost(
                url: "https://h", formats: formats, makesAnything: makesAnything, mostPixels: 1_000_000, measure: { _ in sizes })
            XCTAssertEqual(IIIFDocument(id: "x", sizes: sizes, on: less).profile, profile)
        }
        XCTAssertEqual(document.id, "https://h/iiif/3/sample:%2F%2F1")
    }
}
