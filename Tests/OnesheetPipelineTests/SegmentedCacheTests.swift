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
        XCTAssertLessThanOrEqual(present(-1..<10_000, in: values), 400)
    }

    func testThatAValueIsReplacedAndRemovedInEitherGeneration() {
        // Given a value in the older generation
        var values = SegmentedCache<Int, String>(count: 2)
        for number in 0..<3 { values.set("\(number)", for: number) }
        // When it is replaced
        values.set("new", for: 0)
        // Then it displaces none, and can be removed from both
        XCTAssertEqual(values.value(for: 0), "new")
        XCTAssertEqual(present(0..<3, in: values), 3)
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
        XCTAssertLessThanOrEqual(present(-1..<100, in: values), 6)
        XCTAssertNil(values.value(for: -1))
        XCTAssertNotNil(values.value(for: 99))
    }

    /// How many of `keys` have a value. Each is looked up in a copy, because a lookup moves values.
    private func present(_ keys: Range<Int>, in values: SegmentedCache<Int, String>) -> Int {
        keys.count { key in
            var copy = values
            return copy.value(for: key) != nil
        }
    }
}
