import XCTest

@testable import OnesheetImaging

final class QualitySearchTests: XCTestCase {
    /// Searches a picture whose distance falls evenly by logarithm: to the target at `quality`, and by `slope` per step.
    private func attempts(target quality: Double, slope: Double, first: Int = 80) -> [Int] {
        func distance(_ tried: Int) -> VisibleDistance {
            VisibleDistance(units: Int(Double(VisibleDistance.jpegOf80.units) * exp((quality - Double(tried)) * slope)))
        }
        var attempts = [first]
        var search = QualitySearch(first, distance(first))
        while let next = search.next {
            attempts.append(next)
            search.note(next, distance(next))
        }
        return attempts
    }

    func testThatFourAttemptsFindTheLowestQualityThatIsEnough() {
        for slope in [0.02, 0.03, 0.045, 0.06] {
            for wanted in 41...89 {
                // When
                let attempts = attempts(target: Double(wanted) - 0.3, slope: slope)
                // Then one of four attempts is enough, and not higher than necessary by more than three
                XCTAssertLessThanOrEqual(attempts.count, 4)
                XCTAssertEqual(Set(attempts).count, attempts.count, "nothing is tried twice")
                let found = attempts.filter { $0 >= wanted }.min()
                XCTAssertNotNil(found, "\(wanted) with \(slope): \(attempts)")
                XCTAssertLessThanOrEqual(found ?? 100, wanted + 3, "\(wanted) with \(slope): \(attempts)")
            }
        }
    }

    func testThatAFirstAttemptThatIsCloseIsTheOnlyOne() {
        XCTAssertEqual(attempts(target: 79.9, slope: 0.04), [80])
    }

    func testThatItStaysWithinItsQualities() {
        // What is always enough, and what never is
        let (low, high) = (attempts(target: -500, slope: 0.03), attempts(target: 900, slope: 0.03))
        XCTAssertEqual(low.min(), QualitySearch.qualities.lowerBound)
        XCTAssertEqual(high.max(), QualitySearch.qualities.upperBound)
        for attempt in low + high { XCTAssertTrue(QualitySearch.qualities.contains(attempt)) }
    }

    func testThatEqualAndEndlessDistancesEnd() {
        // Given a codec whose files never differ from the picture, or always in everything
        for units in [0, VisibleDistance.jpegOf80.units, 14 * 65535] {
            var search = QualitySearch(80, VisibleDistance(units: units))
            var count = 1
            while let next = search.next {
                search.note(next, VisibleDistance(units: units))
                count += 1
            }
            // Then
            XCTAssertLessThanOrEqual(count, QualitySearch.attempts)
        }
    }
}
