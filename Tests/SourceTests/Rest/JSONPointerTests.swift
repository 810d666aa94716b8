import Foundation
import OnesheetCore
import XCTest

@testable import RestSource

final class JSONPointerTests: XCTestCase {
    func testThatTheExamplesOfTheRFCPointWhereTheyShould() throws {
        // Given RFC 6901 §5
        let json = #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#
        let document = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        let cases: [(String, JSONValue?)] = [
            ("", document), ("/foo", .array(["bar", "baz"])), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/e^f", 3),
            ("/g|h", 4),
            ("/i\\j", 5), ("/k\"l", 6), ("/ ", 7), ("/m~0n", 8), ("/foo/2", nil), ("/foo/-", nil), ("/foo/00", nil),
            ("/foo/01", nil),
            ("/foo/+1", nil), ("/foo/99999999999999999999", nil), ("/none", nil), ("/foo/0/x", nil), ("/~01", nil),
        ]

        for (text, expected) in cases {
            // When
            let value = try XCTUnwrap(JSONPointer(text), text).value(in: document)

            // Then
            XCTAssertEqual(value, expected, text)
        }
    }

    func testThatWhatIsNoPointerIsRefused() {
        // Given
        let texts = ["foo", "foo/bar", "/~", "/~2", "/a~", "#/foo"]

        // When
        let pointers = texts.map { ($0, JSONPointer($0)) }

        // Then
        for (text, pointer) in pointers { XCTAssertNil(pointer, text) }
    }
}
