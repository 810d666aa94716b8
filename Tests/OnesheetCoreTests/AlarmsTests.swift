import Dispatch
import Foundation
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
        let id = alarms.set(in: .milliseconds(300)) { rung.numbers.withLock { $0.append(1) } }
        alarms.cancel(id)
        let last = FirstOutcome<Void>()
        _ = alarms.set(in: .milliseconds(350)) { last.give(()) }
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

    func testThatAlarmsGoOffWhileTasksOccupyTheCooperativePool() {
        // Given tasks that block all threads of the cooperative pool
        let alarms = Alarms()
        let rung = DispatchSemaphore(value: 0)
        let isBlocked = DispatchSemaphore(value: 0)
        let door = DispatchSemaphore(value: 0)
        let count = ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<count { Task.detached { AlarmsTests.block(isBlocked, door) } }
        for _ in 0..<count { isBlocked.wait() }
        // When an alarm is set, and another one from its action
        _ = alarms.set(in: .milliseconds(1)) { _ = alarms.set(in: .milliseconds(1)) { rung.signal() } }
        // Then both go off
        XCTAssertEqual(rung.wait(timeout: .now() + 60), .success)
        for _ in 0..<count { door.signal() }
    }

    func testThatAnAlarmAfterAQuietTimeGoesOff() async {
        // Given an alarm that went off, and one that was cancelled, so that no timer is left
        let alarms = Alarms()
        for _ in 0..<3 {
            let id = alarms.set(in: .milliseconds(1)) {}
            alarms.cancel(id)
            let done = FirstOutcome<Void>()
            // When the next one is set, then it goes off
            _ = alarms.set(in: .milliseconds(5)) { done.give(()) }
            await done.value()
        }
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

    /// Blocks the calling thread.
    private static func block(_ isBlocked: DispatchSemaphore, _ door: DispatchSemaphore) {
        isBlocked.signal()
        door.wait()
    }
}
