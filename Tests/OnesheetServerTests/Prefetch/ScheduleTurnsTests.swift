import Logging
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Several servers with one schedule.
final class ScheduleTurnsTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var coordinator = FakeCoordinator(clock: clock)

    func testThatOneServerRunsALineAndTheOthersKnow() async throws {
        // Given a server that runs a line
        let (first, second) = (turns("1"), turns("2"))
        let turn = await first.turn("daily", due: 100)
        let meanwhile = await second.turn("daily", due: 100)
        let another = await second.turn("weekly", due: 100)
        XCTAssertEqual([name(turn), name(meanwhile), name(another)], ["here", "elsewhere", "here"])
        // When it has ended
        await first.finish(turn, isDone: true)
        // Then nobody runs it again, until it is due again
        let afterwards = await second.turn("daily", due: 100)
        let own = await first.turn("daily", due: 100)
        let next = await second.turn("daily", due: 200)
        XCTAssertEqual([name(afterwards), name(own), name(next)], ["done", "done", "here"])
        await second.finish(another, isDone: false)
        await second.finish(next, isDone: false)
    }

    func testThatALineThatFailedOrWhoseServerDiedIsRunByAnother() async throws {
        for isDead in [false, true] {
            let due = isDead ? 2 : 1
            let (first, second) = (turns("1"), turns("2"))
            if isDead {
                _ = try await coordinator.acquire("prefetch:daily:\(due)", for: "dead", milliseconds: 60_000)
                clock.advance(by: .seconds(60))
            } else {
                await first.finish(await first.turn("daily", due: due), isDone: false)
            }
            let turn = await second.turn("daily", due: due)
            XCTAssertEqual(name(turn), "here")
            await second.finish(turn, isDone: true)
        }
    }

    func testThatWithoutTheCoordinatorEachServerRunsItsLines() async {
        coordinator.isUnreachable = true
        let turn = await turns("1").turn("daily", due: 100)
        XCTAssertEqual(name(turn), "here")
        await turns("1").finish(turn, isDone: true)
    }

    private func turns(_ holder: String) -> ScheduleTurns {
        ScheduleTurns(coordinator: coordinator, holder: holder, logger: RunningServer.silent)
    }

    private func name(_ turn: ScheduleTurns.Turn) -> String {
        switch turn {
        case .here: "here"
        case .elsewhere: "elsewhere"
        case .done: "done"
        }
    }
}
