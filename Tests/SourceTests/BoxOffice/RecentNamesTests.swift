import XCTest

@testable import BoxOfficeSource

final class RecentNamesTests: XCTestCase {
    func testThatTheOldestNamesGoBeyondTheLimit() {
        // Given
        let names = RecentNames(limit: 2)

        // When
        names.remember([("1", "a"), ("2", "b"), ("1", "A"), ("3", "c")])

        // Then
        XCTAssertNil(names["1"])
        XCTAssertEqual(names["2"], "b")
        XCTAssertEqual(names["3"], "c")
    }

    func testThatANewNameTakesTheOldOnesPlace() {
        // Given
        let names = RecentNames()
        names.remember([("1", "a")])

        // When
        names.remember([("1", "b")])

        // Then
        XCTAssertEqual(names["1"], "b")
    }
}
