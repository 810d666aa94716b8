import Synchronization
import XCTest

@testable import OnesheetCore

final class AlarmsTests: XCTestCase {
    private final class Rung: Sendable {
        let numbers = Mutex<[Int]>([])
    }

    func testThatAlarmsGoOffInTheirOrder() async {
        // Given alarms that are set in another order than they are due
        let (alarms, rung) = (Alarms(), Rung())
        for number in [5, 1, 4, 2, 3] {
            _ = alarms.set(in: .milliseconds(number * 40)) { rung.numbers.withLock { $0.append(number) } }
        }
        // When all are due
        let last = FirstOutcome<Void>()
        _ = alarms.set(in: .milliseconds(240)) { last.give(()) }
        await last.value()
        // Then each went off once, the earliest first
        XCTAssertEqual(rung.numbers.withLock { $0 }, [1, 2, 3, 4, 5])
    }

    func testThatACancelledAlarmDoesNotGoOff() async {
        let (alarms, rung) = (Alarms(), Rung())
        let id = alarms.set(in: .milliseconds(5)) { rung.numbers.withLock { $0.append(1) } }
        alarms.cancel(id)
        let last = FirstOutcome<Void>()
        _ = alarms.set(in: .milliseconds(20)) { last.give(()) }
        await last.value()
        XCTAssertEqual(rung.numbers.withLock { $0 }, [])
    }

    func testThatAnEarlierAlarmDoesNotWaitForALaterOne() async {
        let (alarms, first) = (Alarms(), FirstOutcome<Int>())
        _ = alarms.set(in: .seconds(3600)) { first.give(3600) }
        _ = alarms.set(in: .zero) { first.give(0) }
        let number = await first.value()
        XCTAssertEqual(number, 0)
    }

    func testThatManyTasksSetAndCancelAtOnce() async {
        let (alarms, rung) = (Alarms(), Rung())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let done = FirstOutcome<Void>()
                    let id = alarms.set(in: .milliseconds(number % 7)) {
                        rung.numbers.withLock { $0.append(number) }
                        done.give(())
                    }
                    if number % 2 == 0 { await done.value() } else { alarms.cancel(id) }
                }
            }
        }
        let numbers = rung.numbers.withLock { $0 }
        XCTAssertEqual(Set(numbers).count, numbers.count)
        XCTAssertGreaterThanOrEqual(numbers.filter { $0 % 2 == 0 }.count, 1000)
    }
}
