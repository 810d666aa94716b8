import XCTest

@testable import OnesheetImaging

final class BoundedCacheTests: XCTestCase {
    func testThatTheOneNotUsedForTheLongestTimeGoesFirst() {
        // Given room for three values
        var cache = BoundedCache<Int, String>(bytes: 30, entries: 10)
        for key in 1...3 { cache.keep("\(key)", for: key, bytes: 10) }
        // When the first is used and another is added
        XCTAssertEqual(cache.value(for: 1), "1")
        cache.keep("4", for: 4, bytes: 10)
        // Then
        XCTAssertEqual((1...4).map { cache.value(for: $0) }, ["1", nil, "3", "4"])
        XCTAssertEqual(cache.bytes, 30)
    }

    func testThatBytesAndEntriesAreBounded() {
        var cache = BoundedCache<Int, Int>(bytes: 1000, entries: 8)
        for key in 0..<500 {
            cache.keep(key, for: key, bytes: key * 37 % 400)
            XCTAssertLessThanOrEqual(cache.bytes, 1000)
            XCTAssertLessThanOrEqual(cache.count, 8)
            XCTAssertEqual(cache.value(for: key), key)
        }
    }

    func testThatWhatIsLargerThanTheWholeIsNotKept() {
        var cache = BoundedCache<Int, Int>(bytes: 10, entries: 8)
        cache.keep(1, for: 1, bytes: 5)
        cache.keep(2, for: 2, bytes: 11)
        XCTAssertEqual(cache.value(for: 1), 1)
        XCTAssertNil(cache.value(for: 2))
    }

    func testThatTheSameKeyCountsOnce() {
        var cache = BoundedCache<Int, Int>(bytes: 10, entries: 8)
        for value in 0..<5 { cache.keep(value, for: 1, bytes: 7) }
        XCTAssertEqual(cache.value(for: 1), 4)
        XCTAssertEqual(cache.bytes, 7)
    }
}
