import FoundationEssentials
import OnesheetValues
import XCTest

final class TitleValueTests: XCTestCase {
    func testThatATitleSurvivesItsJSON() throws {
        // Given
        let title = Title(
            id: "20124079", name: "광해", originalName: "Masquerade", overview: "A king.", releaseDate: CalendarDay("20120913"),
            rank: 1,
            metadata: [
                "showTm": 131, "salesShare": .number(36.3), "nations": .array(["한국"]), "isNew": true, "none": .null,
                "person": .object(["peopleNm": "x"]),
            ])

        // When
        let copy = try JSONDecoder().decode(Title.self, from: JSONEncoder().encode(title))

        // Then
        XCTAssertEqual(copy, title)
    }

    func testThatJSONValuesKeepTheirKinds() throws {
        // Given
        let json = Data(#"[null, true, 1, -7, 1.5, "1", [], {"a": [false]}]"#.utf8)

        // When
        let values = try JSONDecoder().decode(JSONValue.self, from: json)

        // Then
        XCTAssertEqual(
            values, .array([.null, true, 1, -7, .number(1.5), "1", .array([]), .object(["a": .array([false])])]))
    }

    func testThatSourceNamesAreURLSchemes() {
        // Given
        let cases = [
            ("boxoffice", true), ("a-1.b+c", true), ("", false), ("Box", false), ("1a", false), ("-a", false), ("a b", false),
            ("a:b", false),
            ("영화", false),
        ]

        for (name, expected) in cases {
            // When
            let isName = TitleReference.isSourceName(name)

            // Then
            XCTAssertEqual(isName, expected, name)
        }
        XCTAssertEqual("\(TitleReference(source: "boxoffice", id: "1"))", "boxoffice://1")
    }
}
