import XCTest

@testable import OnesheetPipeline

final class SegmentedCacheTests: XCTestCase {
    func testThatWhatIsUsedOutlivesAFlood() {
        // Given a value that is read every hundredth time
        var values = SegmentedCache<Int, String>(count: 200)
        values.set("used", for: -1)
        // When ten thousand others are added
        for number in 0..<10_000 {
            values.set("other", for: number)
            if number % 100 == 0 { XCTAssertEqual(values.value(for: -1), "used", "\(number)") }
        }
        // Then it is present, the first others are not, and there are no more than two generations
        XCTAssertEqual(values.value(for: -1), "used")
        XCTAssertNil(values.value(for: 0))
        XCTAssertLessThanOrEqual(values.count, 400)
    }

    func testThatAValueIsReplacedAndRemovedInEitherGeneration() {
        // Given a value in the older generation
        var values = SegmentedCache<Int, String>(count: 2)
        for number in 0..<3 { values.set("\(number)", for: number) }
        // When it is replaced
        values.set("new", for: 0)
        // Then it exists once, and can be removed
        XCTAssertEqual(values.value(for: 0), "new")
        XCTAssertEqual(values.count, 3)
        values.remove(0)
        XCTAssertNil(values.value(for: 0))
    }

    func testThatWeightsAreBounded() {
        // Given room for a hundred
        var values = SegmentedCache<Int, String>(count: 1000, weight: 100)
        // When values of weight thirty are added, and one heavier than the limit
        for number in 0..<100 { values.set("", for: number, weight: 30) }
        values.set("heavy", for: -1, weight: 101)
        // Then at most six are present, and the heavy one is not
        XCTAssertLessThanOrEqual(values.count, 6)
        XCTAssertNil(values.value(for: -1))
        XCTAssertNotNil(values.value(for: 99))
    }
}
