import OnesheetCore
import XCTest

final class CallBreakerTests: XCTestCase {
    private let start = ContinuousClock.now
    private let pause = Duration.seconds(2)

    func testThatOneCallTriesAfterThePause() {
        // Given a breaker after one failure less than begin a pause
        var breaker = CallBreaker(failures: 5, pause: pause)
        for _ in 1..<5 { XCTAssertFalse(breaker.failed(at: start)) }
        XCTAssertTrue(breaker.allows(at: start))
        XCTAssertFalse(breaker.isOpen)

        // When one more call fails
        XCTAssertTrue(breaker.failed(at: start))

        // Then calls pause, and each time one tries
        let end = start + pause
        XCTAssertTrue(breaker.isOpen)
        XCTAssertFalse(breaker.allows(at: start))
        XCTAssertFalse(breaker.failed(at: start), "a late failure prolongs the pause")
        XCTAssertTrue(breaker.allows(at: end))
        XCTAssertFalse(breaker.allows(at: end), "a second call tries")
        XCTAssertTrue(breaker.failed(at: end))
        XCTAssertFalse(breaker.allows(at: end))
        XCTAssertTrue(breaker.allows(at: end + pause))
        breaker.succeeded()
        XCTAssertTrue(breaker.allows(at: end))
        XCTAssertFalse(breaker.failed(at: end))
    }

    func testThatAnAbandonedTryLeavesItToTheNextCall() {
        // Given a call that tries after a pause
        var breaker = CallBreaker(failures: 1, pause: pause)
        breaker.failed(at: start)
        let end = start + pause
        XCTAssertTrue(breaker.isPausing(at: start))
        XCTAssertFalse(breaker.isPausing(at: end))
        XCTAssertTrue(breaker.allows(at: end))

        // When its outcome stays unknown
        breaker.abandoned()

        // Then the next call tries
        XCTAssertTrue(breaker.allows(at: end))
        XCTAssertFalse(breaker.allows(at: end))
    }

    func testThatPausesDoubleUpToALimit() {
        // Given
        var backoff = Backoff(from: .seconds(1), upTo: .seconds(5))

        // When
        let pauses = (0..<5).map { _ in backoff.next() }

        // Then
        XCTAssertEqual(pauses, [1, 2, 4, 5, 5].map { .seconds($0) })
    }
}
