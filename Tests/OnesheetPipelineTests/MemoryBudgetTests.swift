import OnesheetCore
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

    func testThatLargeReservationsKeepNoSmallOnesOut() {
        // Given a budget that a large reservation takes, and room for two small ones of ten
        let budget = MemoryBudget(limit: 320)
        var large = budget.reserve(320)
        XCTAssertNotNil(large)
        XCTAssertNil(budget.reserve(11))
        // When small ones come, then they have room, as far as it goes, and do not grow out of it
        var small = [budget.reserve(10), budget.reserve(10)]
        XCTAssertFalse(small.contains { $0 == nil })
        XCTAssertNil(budget.reserve(1))
        XCTAssertFalse(small[0]?.grow(to: 11) ?? true)
        XCTAssertEqual(budget.reserved, 340)
        // And one that is released, or grows as soon as there is room, makes room for another
        large = nil
        XCTAssertTrue(small[0]?.grow(to: 100) ?? false)
        small[1] = nil
        // And one that could leave the small ones their room has to
        let charged = budget.charge(40)
        XCTAssertNil(budget.reserve(161))
        large = budget.reserve(160)
        XCTAssertNotNil(large)
        small += [budget.reserve(10), budget.reserve(10)]
        XCTAssertNil(budget.reserve(1))
        XCTAssertEqual(budget.reserved, 320)
        (large, small) = (nil, [])
        XCTAssertEqual(budget.reserved, 40)
        withExtendedLifetime(charged) {}
    }

    func testLargeReservationsLeaveRoomForCharges() {
        // Given a budget with as much in large reservations as it takes
        let budget = MemoryBudget(limit: 320, standing: 100)
        let large = budget.reserve(160)
        XCTAssertNotNil(large)
        XCTAssertNil(budget.reserve(11))
        // When a response is charged, then all is within the limit, and no large one has room for it
        let charged = budget.charge(40)
        XCTAssertNil(budget.reserve(11))
        XCTAssertEqual(budget.reserved, 200)
        // And when more is charged, then there is less room for large ones
        large?.giveBack()
        let more = budget.charge(40)
        XCTAssertNil(budget.reserve(121))
        XCTAssertNotNil(budget.reserve(120))
        withExtendedLifetime((charged, more)) {}
    }

    func testSmallerReservationsFit() {
        // Given budgets that are used in different ways
        for (used, charged) in [(0, 0), (30, 0), (60, 0), (0, 30), (30, 30), (20, 80)] {
            let budget = MemoryBudget(limit: 320, standing: 100)
            let (other, response) = (budget.reserve(used), budget.charge(charged))
            XCTAssertNotNil(other)
            // When reservations that are not small are tried, then there is one size up to which they fit
            let sizes = (11...320).filter { budget.reserve($0) != nil }
            XCTAssertEqual(sizes, sizes.isEmpty ? [] : Array(11...(10 + sizes.count)), "\(used) \(charged)")
            withExtendedLifetime((other, response)) {}
        }
    }

    func testOversizedReservationTakesWhatItNeeds() {
        // Given a budget with another reservation
        let budget = MemoryBudget(limit: 320, standing: 100)
        let other = budget.reserve(41)
        XCTAssertNotNil(other)
        // When one of more than 160, which there never is beside the standing bytes, comes, then others may use an eighth beside it
        XCTAssertNil(budget.reserve(200))
        other?.shrink(to: 40)
        let large = budget.reserve(200)
        XCTAssertNotNil(large)
        XCTAssertNil(budget.reserve(11))
        XCTAssertLessThanOrEqual(budget.peak, 240)
    }

    func testThatStandingBytesLeaveLessRoom() {
        // Given a budget of which a part is always in use
        let budget = MemoryBudget(limit: 320, standing: 100)
        // When there are reservations, then they have the rest, and large ones leave the room for small ones
        XCTAssertEqual(budget.reserved, 0)
        var first = budget.reserve(150)
        XCTAssertNotNil(first)
        XCTAssertNil(budget.reserve(51))
        let small = budget.reserve(10)
        XCTAssertNotNil(small)
        // And one that never fits beside the standing bytes may be alone
        XCTAssertNil(budget.reserve(310))
        first = nil
        let whole = budget.reserve(310)
        XCTAssertNotNil(whole)
        XCTAssertNil(budget.reserve(320))
        withExtendedLifetime((small, whole)) {}
    }

    func testThatACrowdLeavesLessRoomButNotToWhatNeedsNearlyAll() {
        // Given a crowd that waits
        let budget = MemoryBudget(limit: 320)
        let crowd = budget.charge(yielding: 80)
        XCTAssertEqual(budget.yielding, 80)
        XCTAssertEqual(budget.reserved, 0)
        // When something large is reserved, then the crowd is counted
        XCTAssertNil(budget.reserve(181))
        var large = budget.reserve(180)
        XCTAssertNotNil(large)
        // And when it needs nearly all, then the crowd is not
        large = nil
        large = budget.reserve(310)
        XCTAssertNotNil(large)
        large = nil
        crowd.giveBack()
        XCTAssertEqual(budget.yielding, 0)
        XCTAssertEqual(budget.reserved, 0)
    }

    func testThatWhatCannotBeRefusedKeepsNoSmallOnesOut() {
        // Given far more than the budget in small parts that were not refused
        let budget = MemoryBudget(limit: 320)
        var charged = (0..<100).map { _ in budget.charge(10) }
        // When small reservations come, then they have the same room as ever
        let small = (0..<3).map { _ in budget.reserve(10) }
        XCTAssertEqual(small.count { $0 != nil }, 2)
        XCTAssertEqual(budget.reserved, 1020)
        charged = []
        XCTAssertEqual(budget.reserved, 20)
        withExtendedLifetime((charged, small)) {}
    }

    func testAClientMayHoldAsMuchAsIsFree() {
        // Given a budget, and a client that holds nearly half
        let budget = MemoryBudget(limit: 3200, isFair: true)
        let (one, other) = (ClientKey([1]), ClientKey([2]))
        let held = budget.reserve(1300, for: one)
        XCTAssertNotNil(held)
        // When it asks for more than is left for others, then it is refused, and another client and work without one are not
        XCTAssertNil(budget.reserve(500, for: one))
        let second = budget.reserve(500, for: other)
        XCTAssertNotNil(second)
        let third = budget.reserve(500)
        XCTAssertNotNil(third)
        // And once its bytes are back, it gets as much again
        held?.giveBack()
        XCTAssertNotNil(budget.reserve(1300, for: one))
        withExtendedLifetime((second, third)) {}
    }

    func testAPartTakesOneThatIsLargerThanItAndTheWholeRefusesIt() {
        let whole = MemoryBudget(limit: 3200)
        let part = MemoryBudget(limit: 800, of: whole)
        let alone = part.reserve(1600, alone: true)
        XCTAssertEqual([part.reserved, whole.reserved], [1600, 1600])
        XCTAssertNil(part.reserve(1600, alone: true), "another one is there")
        alone?.giveBack()
        let other = whole.reserve(2000)
        XCTAssertNil(part.reserve(1600, alone: true), "the whole has no room")
        XCTAssertEqual([part.reserved, whole.reserved], [0, 2000])
        XCTAssertLessThanOrEqual(whole.peak, 3200)
        withExtendedLifetime(other) {}
    }

    func testThatAWholeThatRefusesTakesNothingFromItsPart() {
        // Given a part of a budget that is full
        let whole = MemoryBudget(limit: 320)
        let part = MemoryBudget(limit: 160, of: whole)
        let all = whole.reserve(320)
        // When the part is asked for more than a small amount, then nothing changes
        XCTAssertNil(part.reserve(20))
        XCTAssertEqual([part.reserved, whole.reserved], [0, 320])
        // And for a small one there is room in both
        let small = part.reserve(5)
        XCTAssertNotNil(small)
        XCTAssertEqual([part.reserved, whole.reserved], [5, 325])
        withExtendedLifetime((all, small)) {}
    }

    func testBytesThatExistLeaveTheirRoomToRenders() throws {
        // Given a budget with an eighth for what exists, and a body in more memory than it has bytes
        let budget = MemoryBudget(limit: 72 << 20)
        let body = try XCTUnwrap(budget.reserve(16 << 20))
        XCTAssertNil(budget.reserve(44 << 20))
        // When it is counted as what exists
        body.settle(to: 9 << 20)
        // Then its bytes are counted, a render has room beside it, and all is released
        XCTAssertEqual(budget.reserved, 9 << 20)
        let render = try XCTUnwrap(budget.reserve(44 << 20))
        XCTAssertEqual(budget.reserved, 53 << 20)
        body.giveBack()
        render.giveBack()
        XCTAssertEqual(budget.reserved, 0)
    }

    func testSmallBytesThatExistAreNoSmallReservations() throws {
        // Given small bodies that exist, as many as there may be small reservations, and a full budget
        let budget = MemoryBudget(limit: 64 << 20)
        let bodies = try (0..<4).map { _ in try XCTUnwrap(budget.reserve(1 << 20)) }
        for body in bodies { body.settle(to: 1 << 20) }
        let rest = try XCTUnwrap(budget.reserve(58 << 20))
        // Then small ones have their own room
        let small = [budget.reserve(2 << 20), budget.reserve(2 << 20)]
        XCTAssertEqual(small.count { $0 != nil }, 2)
        withExtendedLifetime((bodies, rest, small)) {}
    }
}
