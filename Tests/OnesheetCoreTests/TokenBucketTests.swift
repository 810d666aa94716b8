import XCTest

@testable import OnesheetCore

final class TokenBucketTests: XCTestCase {
    func testThatAQuarterIsThereAtOnce() {
        XCTAssertEqual(spent(TokenBucket(calls: 1500), seconds: 0), 375)
    }

    func testThatNoDayHasMoreThanTheShareWhereverItBegins() {
        // Given buckets of several sizes that are always emptied
        for calls in [8.0, 100, 1500, 15_000] {
            // When a call is tried every second for a day
            let spent = spent(TokenBucket(calls: calls), seconds: 86_400)
            // Then almost the whole share is spent, and no more
            XCTAssertLessThanOrEqual(Double(spent), calls + 1, "\(calls)")
            XCTAssertGreaterThan(Double(spent), calls * 0.97 - 1, "\(calls)")
        }
    }

    func testThatAShareOfNothingIsNeverAllowed() {
        XCTAssertEqual(TokenBucket(calls: 0).spend(fullAt: 0, now: 1_000_000), .refused(until: nil))
    }

    func testThatLessThanACallADayIsOneInSomeDays() {
        // Given half a call a day
        let share = TokenBucket(calls: 0.5)
        // When a call is made
        guard case .allowed(let fullAt) = share.spend(fullAt: 0, now: 0) else { return XCTFail("the first is refused") }
        // Then the next is allowed two days later
        XCTAssertEqual(share.spend(fullAt: fullAt, now: 10), .refused(until: 172_800))
        XCTAssertEqual(share.spend(fullAt: fullAt, now: 172_800), .allowed(fullAt: 345_600))
    }

    func testThatAClockThatIsSetBackLocksNobodyOut() {
        // Given a bucket that was emptied a year in the future
        let share = TokenBucket(calls: 100)
        let future = 31_536_000.0
        // When a call is made now
        let outcome = share.spend(fullAt: future, now: 0)
        // Then it counts as full
        XCTAssertEqual(outcome, .allowed(fullAt: share.interval))
    }

    /// The number of allowed calls if calls are tried every second until they are refused.
    private func spent(_ share: TokenBucket, seconds: Int) -> Int {
        var (fullAt, count) = (0.0, 0)
        for second in 0...seconds {
            while case .allowed(let next) = share.spend(fullAt: fullAt, now: 1_000_000 + Double(second)) {
                (fullAt, count) = (next, count + 1)
            }
        }
        return count
    }

    func testThatAHighRateHasABurstToo() {
        let bucket = TokenBucket(perSecond: 2000, burst: 400)
        var fullAt = 0.0
        let allowed = (0..<10_000).count { _ in
            guard case .allowed(let full) = bucket.spend(fullAt: fullAt, now: 1000) else { return false }
            fullAt = full
            return true
        }
        XCTAssertEqual(allowed, 400)
    }
}
