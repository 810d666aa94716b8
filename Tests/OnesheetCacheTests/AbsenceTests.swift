import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class AbsenceTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "poster")

    func testThatAnAbsenceIsRememberedAsLongAsItsReasonSays() {
        let memory = MemoryTier(extending: .cacheTime, clock: clock.wallClock)
        let absences = Absences(in: memory, clock: clock.wallClock)

        for (reason, seconds) in [(Absence.Reason.notFound, 300), (.unusable, 300), (.refused, 60), (.failed, 5)] {
            let absence = Absence(reason, detail: "because")
            absences.note(absence, for: key)
            clock.advance(by: .seconds(seconds - 1))
            XCTAssertEqual(absences.absence(for: key), absence)
            clock.advance(by: .seconds(1))
            XCTAssertNil(absences.absence(for: key), "asking for it must not have extended it: \(reason)")
        }
    }

    func testThatAnAbsenceIsNeverFoundInAnImagesPlace() {
        let memory = MemoryTier(clock: clock.wallClock)

        Absences(in: memory, clock: clock.wallClock).note(Absence(.failed, detail: "because"), for: key)

        XCTAssertNil(memory.entryNow(for: key))
    }

    func testThatTheOriginsOwnTimeCountsWhereItSaysOne() {
        let absences = Absences(in: MemoryTier(clock: clock.wallClock), clock: clock.wallClock)
        absences.note(Absence(.refused, detail: ""), for: key, lifetime: .seconds(200))
        clock.advance(by: .seconds(199))

        XCTAssertNotNil(absences.absence(for: key))
        clock.advance(by: .seconds(1))
        XCTAssertNil(absences.absence(for: key))
    }

    func testThatAnAbsenceIsForgottenWhenItIsSaidToBe() async {
        let memory = MemoryTier(clock: clock.wallClock)
        let absences = Absences(in: memory, clock: clock.wallClock)
        absences.note(Absence(.notFound, detail: ""), for: key)
        absences.note(Absence(.notFound, detail: ""), for: CacheKey(.variant, "other"), tags: [.source("sample")])

        absences.forget(key)
        _ = await memory.remove(.tag(.source("sample")))

        XCTAssertNil(absences.absence(for: key))
        XCTAssertNil(absences.absence(for: CacheKey(.variant, "other")))
    }
}
