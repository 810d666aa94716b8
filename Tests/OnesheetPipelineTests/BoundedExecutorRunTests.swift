import OnesheetTesting
import XCTest

@testable import OnesheetCore

/// Whose time a call on a few threads takes.
final class BoundedExecutorRunTests: XCTestCase {
    func testWaitForAThreadIsNotTheCallsTime() async {
        // Given one thread that calls take in turn
        let (executor, first, second) = (BoundedExecutor(threads: 1), ThreadDoor(), ThreadDoor())
        let before = Task.immediate { await executor.run(within: .seconds(60)) { first.pass() } }
        await first.hasBeenReached()
        let behind = Task.immediate { await executor.run(within: .seconds(2)) { second.pass() } }
        // When the second one has waited for half of its time, and then takes three quarters of it
        await Self.use(up: .seconds(1))
        first.open()
        await second.hasBeenReached()
        await Self.use(up: .seconds(1.5))
        second.open()
        // Then it is in time
        guard case .answer = await before.value, case .answer = await behind.value else { return XCTFail("a call was late") }
    }

    func testCallWithoutAThreadIsLateIfNoneEnds() async {
        // Given a thread that is held by a call that hangs
        let (executor, hung) = (BoundedExecutor(threads: 1), ThreadDoor())
        let hanging = Task.immediate { await executor.run(within: .milliseconds(50)) { hung.pass() } }
        await hung.hasBeenReached()
        // When another one gets no thread in time, then both are late
        guard case .late = await executor.run(within: .milliseconds(50), {}), case .late = await hanging.value else {
            return XCTFail("whoever hangs is not blamed")
        }
        hung.open()
    }

    func testCallWithoutAThreadIsNotLateIfOthersEnd() async {
        // Given a thread that one call leaves and another one takes
        let (executor, first, second) = (BoundedExecutor(threads: 1), ThreadDoor(), ThreadDoor())
        let calls = [first, second].map { door in
            Task.immediate { await executor.run(within: .seconds(60)) { door.pass() } }
        }
        await first.hasBeenReached()
        let behind = Task.immediate { await executor.run(within: .milliseconds(200)) {} }
        first.open()
        await second.hasBeenReached()
        // When one behind them gets no thread in time, then this says nothing about them
        guard case .crowded = await behind.value else { return XCTFail("its wait was held against the calls") }
        second.open()
        for call in calls { _ = await call.value }
    }

    /// Lets a call use up its time, because a limit is real time.
    private static func use(up limit: Duration) async {
        let gate = Gate()
        _ = await BoundedExecutor(threads: 1).run(within: limit) { do { try await gate.pass() } catch {} }
    }
}
