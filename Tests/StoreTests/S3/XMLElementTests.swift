import OnesheetCore
import S3Store
import XCTest

final class XMLElementTests: XCTestCase {
    private func parse(_ text: String) throws -> XMLElement { try XMLElement(parsing: Array(text.utf8)) }

    func testThatADocumentIsRead() throws {
        // Given
        let text = """
            \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
            <!-- a comment with <tags> & more -->
            <s3:List xmlns:s3='http://x' a = "1>2">
              <Key>a &amp; b&#38;&#x26;&lt;&gt;&quot;&apos;한글</Key><Empty/><None></None>
              <Raw><![CDATA[<a>&amp;]]></Raw>
            </s3:List>

            """

        // When
        let document = try parse(text)

        // Then
        XCTAssertEqual(document.name, "List")
        XCTAssertEqual(document.children.map(\.name), ["Key", "Empty", "None", "Raw"])
        XCTAssertEqual(document.value("Key"), "a & b&&<>\"'한글")
        XCTAssertEqual(document.value("Empty"), "")
        XCTAssertEqual(document.value("Raw"), "<a>&amp;")
        XCTAssertNil(document.value("Missing"))
    }

    func testThatSpacesAroundAValueAreDroppedAndThoseOfATextAreKept() throws {
        // Given
        let text = "<a><b>\n  x y \n</b></a>"

        // When
        let document = try parse(text)

        // Then
        XCTAssertEqual(document.value("b"), "x y")
        XCTAssertEqual(document.children[0].text, "\n  x y \n")
    }

    func testThatWhatIsNotWellFormedIsRefused() {
        // Given
        let texts = [
            "", " ", "text", "<", "<a", "<a>", "<a></b>", "<a><b></a></b>", "</a>", "<a/><b/>", "<a/>x", "<a b></a>", "<a b=c></a>",
            "<a b=\"c></a>", "<a b=\"<\"/>", "<a b=\"1\"c=\"2\"/>", "<a>&unknown;</a>", "<a>&amp</a>", "<a>&#0;</a>",
            "<a>&#xD800;</a>",
            "<a>&#x110000;</a>", "<a>&#+38;</a>", "<a>&#;</a>", "<a>&#x;</a>", "&amp;<a/>", "<!-- <a/>", "<a><![CDATA[</a>",
            "<![CDATA[x]]><a/>", "<?xml <a/>", "<a></a", "<a>\u{0}</a", "< a/>",
        ]

        for text in texts {
            // When
            let read = { try self.parse(text) }

            // Then
            XCTAssertThrowsError(try read(), text) { XCTAssertTrue($0 is XMLError) }
        }
    }

    func testThatADocumentTypeIsRefused() {
        // Given
        let bombs = [
            #"<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>"#,
            #"<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>"#,
            #"<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd"><a/>"#,
        ]

        for bomb in bombs {
            // When
            let read = { try self.parse(bomb) }

            // Then
            XCTAssertThrowsError(try read()) { XCTAssertEqual(($0 as? XMLError)?.reason, "a document type is not accepted") }
        }
    }

    func testThatBytesThatAreNotTextAreRefused() {
        // Given
        let bytes = Array("<a>".utf8) + [0xC3, 0x28] + Array("</a>".utf8)

        // When
        let read = { try XMLElement(parsing: bytes) }

        // Then
        XCTAssertThrowsError(try read())
    }

    func testThatDepthAndNumberAreBounded() throws {
        // Given
        let deep = String(repeating: "<a>", count: 100_000)
        let many = "<a>" + String(repeating: "<b/>", count: 100_000) + "</a>"
        let enough = "<a>" + String(repeating: "<b/>", count: 99_999) + "</a>"

        // When
        let count = try parse(enough).children.count

        // Then
        XCTAssertEqual(count, 99_999)
        XCTAssertThrowsError(try parse(deep)) { XCTAssertEqual(($0 as? XMLError)?.offset, 48) }
        XCTAssertThrowsError(try parse(many))
    }
}
