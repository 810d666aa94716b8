import XCTest

@testable import OnesheetPipeline

final class MemoryBudgetTests: XCTestCase {
    func testThatWhatIsHeldGoesBackWithTheLastReference() {
        // Given a budget with a reservation
        let budget = MemoryBudget(limit: 100)
        var hold = budget.reserve(60)
        XCTAssertNotNil(hold)
        XCTAssertNil(budget.reserve(41))
        XCTAssertTrue(hold?.grow(to: 100) ?? false)
        XCTAssertFalse(hold?.grow(to: 101) ?? true)
        XCTAssertEqual(budget.reserved, 100)
        // When it is released
        hold = nil
        // Then the whole budget is available
        XCTAssertEqual(budget.reserved, 0)
        XCTAssertNotNil(budget.reserve(100))
    }

    func testThatWhatIsThereAlreadyIsCountedEvenBeyondTheLimit() {
        let budget = MemoryBudget(limit: 10)
        let hold = budget.charge(25)
        XCTAssertEqual(budget.reserved, 25)
        XCTAssertNil(budget.reserve(1))
        withExtendedLifetime(hold) {}
    }
}
