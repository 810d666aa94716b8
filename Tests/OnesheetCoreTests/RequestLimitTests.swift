import OnesheetCore
import XCTest

final class RequestLimitTests: XCTestCase {
    func testRequestsBeyondTheBurstWaitForTheRate() {
        // Given
        let start = ContinuousClock.now
        let limit = RequestLimit(perSecond: 0.5, burst: 3, start: start)
        // When there are four at once, then the last waits for one more
        XCTAssertEqual((0..<4).map { _ in limit.count(at: start) }, [nil, nil, nil, 2])
        // And a refused one does not count
        XCTAssertEqual(limit.count(at: start + .seconds(1)), 1)
        XCTAssertNil(limit.count(at: start + .seconds(2)))
        XCTAssertEqual(limit.count(at: start + .seconds(2)), 2)
        // And after a pause there is a burst again, no more
        XCTAssertEqual((0..<4).map { _ in limit.count(at: start + .seconds(3600)) }, [nil, nil, nil, 2])
    }

    func testNoWaitIsEndless() {
        let start = ContinuousClock.now
        let limit = RequestLimit(perSecond: 0.000_001, burst: 1, start: start)
        XCTAssertNil(limit.count(at: start))
        XCTAssertEqual(limit.count(at: start), 3600)
    }
}
