import OnesheetValues
import XCTest

final class PercentEncodingTests: XCTestCase {
    func testThatOnlyUnreservedCharactersStay() {
        // Given
        let text = "aZ09-._~ /?#[]@!$&'()*+,;=%\"<>\u{0}한"

        // When
        let encoded = PercentEncoding.encode(text)

        // Then
        XCTAssertEqual(
            encoded, "aZ09-._~%20%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%25%22%3C%3E%00%ED%95%9C")
    }

    func testThatAQueryLeavesOutWhatHasNoValue() {
        // Given
        let pairs: KeyValuePairs<String, String?> = ["b": "1 2", "none": nil, "a&": ""]

        // When
        let query = PercentEncoding.query(pairs)

        // Then
        XCTAssertEqual(query, "b=1%202&a%26=")
    }
}
