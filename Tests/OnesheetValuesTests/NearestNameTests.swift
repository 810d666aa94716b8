import OnesheetValues
import XCTest

final class NearestNameTests: XCTestCase {
    func testThatTheNearestNameIsFound() {
        // Given
        let names = ["memory", "disk", "expires", "path"]
        let cases: [(String, String?)] = [
            ("memroy", "memory"), ("Memory", "memory"), ("dsk", "disk"), ("expire", "expires"), ("paht", "path"), ("bytes", nil),
            ("", nil),
            ("zzzzzzzz", nil),
        ]

        for (word, expected) in cases {
            // When
            let near = nearestName(to: word, among: names)

            // Then
            XCTAssertEqual(near, expected, word)
        }
    }

    func testThatEquallyNearNamesAreChosenByTheAlphabet() {
        // Given
        let names = ["cat", "bat", "hat"]

        // When
        let near = nearestName(to: "rat", among: names)

        // Then
        XCTAssertEqual(near, "bat")
    }

    func testThatAWordOfAStrangersLengthIsComparedWithNothing() {
        // Given a long name without similar ones, and a word of the same length
        let long = String(repeating: "a", count: 8000)
        // Then they are not compared
        XCTAssertNil(nearestName(to: long, among: [long + "b"]))
        XCTAssertEqual(nearestName(to: String(repeating: "a", count: 64), among: [String(repeating: "a", count: 63)])?.count, 63)
    }

    func testThatTheMessageNamesTheNearestOrAll() {
        // Given
        let known = ["fit", "fill"]

        // When
        let messages = [
            unknownName("fil", kind: "mode", known: known), unknownName("stretch", kind: "mode", known: known),
            unknownName("fil", kind: "mode", known: known, listsAll: true),
            unknownName("stretch", kind: "mode", known: known, listsAll: true),
        ]

        // Then
        XCTAssertEqual(
            messages,
            [
                "unknown mode “fil”; did you mean “fill”?", "unknown mode “stretch”; known: fill, fit",
                "unknown mode “fil”; did you mean “fill”? Known: fill, fit", "unknown mode “stretch”; known: fill, fit",
            ])
    }
}
