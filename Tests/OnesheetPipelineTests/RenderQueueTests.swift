import OnesheetCore
import XCTest

@testable import OnesheetPipeline

final class RenderQueueTests: XCTestCase {
    func testThatPeopleComeBeforePrefetching() {
        // Given one busy worker, with waiting prefetches and interactive jobs
        var queue = RenderQueue<String>(workers: 1, queue: 8, longestWait: 1000)
        XCTAssertEqual(queue.enter("first", ticket: 1, .prefetch, milliseconds: 10, at: 0), .now)
        for (ticket, name) in [(2, "p1"), (3, "p2")] as [(UInt64, String)] {
            XCTAssertEqual(queue.enter(name, ticket: ticket, .prefetch, milliseconds: 10, at: 0), .later)
        }
        for (ticket, name) in [(4, "i1"), (5, "i2")] as [(UInt64, String)] {
            XCTAssertEqual(queue.enter(name, ticket: ticket, .interactive, milliseconds: 10, at: 0), .later)
        }
        // When the worker is free again and again, then interactive jobs come first, each lane in order
        let order: [UInt64] = [1, 4, 5, 2, 3]
        XCTAssertEqual(order.map { queue.finish($0, at: 10) }, [["i1"], ["i2"], ["p1"], ["p2"], []])
        XCTAssertEqual(queue.load, 0)
    }

    func testJobOfTwoClientsTakesTheEarlierTurn() {
        // Given a busy worker and four jobs of a client, the last of which another client waits for too
        let (greedy, modest) = (ClientKey([1]), ClientKey([2]))
        var queue = RenderQueue<String>(workers: 1, queue: 8, longestWait: 1000)
        for ticket in 1...5 as ClosedRange<UInt64> {
            _ = queue.enter("g\(ticket)", ticket: ticket, .interactive, for: greedy, milliseconds: 10, at: 0)
        }
        queue.lend(5, to: modest)
        // When the worker is free again and again, then it comes before the others
        XCTAssertEqual([1, 5, 2, 3, 4].map { queue.finish($0, at: 10) }, [["g5"], ["g2"], ["g3"], ["g4"], []])
        // And nothing is left that delays anybody
        XCTAssertEqual(queue.load, 0)
        _ = queue.enter("last", ticket: 6, .interactive, for: greedy, milliseconds: 10, at: 10)
        XCTAssertEqual(queue.wait(.interactive, for: modest, at: 10), 10 * queue.slowness, accuracy: 1e-6)
    }

    func testThatNobodyIsLetWaitLongerThanIsOfUse() {
        // Given a worker with two seconds of work
        var queue = RenderQueue<Int>(workers: 1, queue: 100, longestWait: 2000)
        _ = queue.enter(0, ticket: 1, .interactive, milliseconds: 2000, at: 0)
        XCTAssertEqual(queue.enter(1, ticket: 2, .interactive, milliseconds: 500, at: 1000), .later)
        // When one more comes, then it gets a time for a retry
        XCTAssertEqual(queue.enter(2, ticket: 3, .interactive, milliseconds: 1000, at: 1000), .later)
        XCTAssertEqual(queue.enter(3, ticket: 4, .interactive, milliseconds: 300, at: 1000), .refused(retryAfter: 3))
        // And a prefetch may wait
        XCTAssertEqual(queue.enter(4, ticket: 5, .prefetch, milliseconds: 10, at: 1000), .later)
    }

    func testThatAPredictionThatProvedWrongCounts() {
        // Given a job with a prediction of a millisecond, and a waiting one
        var queue = RenderQueue<Int>(workers: 1, queue: 100, longestWait: 2000, deadline: 20_000)
        _ = queue.enter(0, ticket: 1, .interactive, milliseconds: 1, at: 0)
        XCTAssertEqual(queue.enter(1, ticket: 2, .interactive, milliseconds: 1, at: 0), .later)
        // When it still runs after three seconds, it will probably take as long again, and no job may wait for that
        XCTAssertEqual(queue.enter(2, ticket: 3, .interactive, milliseconds: 1, at: 3000), .refused(retryAfter: 4))
        // And beyond its deadline, the time for a retry is bounded
        XCTAssertEqual(queue.stuck(at: 20_000), 0)
        XCTAssertEqual(queue.stuck(at: 1_000_000), 1)
        XCTAssertEqual(queue.enter(3, ticket: 4, .interactive, milliseconds: 1, at: 1_000_000), .refused(retryAfter: 21))
    }

    func testThatAWorkerThatIsStuckMakesNobodyWaitWhoHasAnother() {
        // Given two workers, one stuck and one with a short job
        var queue = RenderQueue<Int>(workers: 2, queue: 100, longestWait: 2000, deadline: 20_000)
        _ = queue.enter(0, ticket: 1, .interactive, milliseconds: 1, at: 0)
        _ = queue.enter(0, ticket: 2, .interactive, milliseconds: 100, at: 1_000_000)
        // When another job comes, then it waits only for the short one
        XCTAssertEqual(queue.wait(.interactive, at: 1_000_000), 100)
        XCTAssertEqual(queue.enter(0, ticket: 3, .interactive, milliseconds: 50, at: 1_000_000), .later)
        XCTAssertEqual(queue.wait(.interactive, at: 1_000_000), 150)
    }

    func testThatWorkersShareWhatWaits() {
        // Given two workers that become free at different times, and one second of waiting work
        var queue = RenderQueue<Int>(workers: 2, queue: 100, longestWait: 1e6)
        _ = queue.enter(0, ticket: 1, .interactive, milliseconds: 100, at: 0)
        _ = queue.enter(0, ticket: 2, .interactive, milliseconds: 300, at: 0)
        _ = queue.enter(0, ticket: 3, .interactive, milliseconds: 1000, at: 0)
        XCTAssertEqual(queue.wait(.interactive, milliseconds: 1000, at: 0), 700)
        // When the waiting one leaves, then a newcomer is next
        XCTAssertNotNil(queue.leave(3))
        XCTAssertEqual(queue.wait(.interactive, milliseconds: 1000, at: 0), 100)
    }

    func testThatAFullQueueRefuses() {
        var queue = RenderQueue<Int>(workers: 1, queue: 1, longestWait: 1e9)
        for (index, turn) in [RenderQueue<Int>.Turn.now, .later, .refused(retryAfter: 1)].enumerated() {
            XCTAssertEqual(queue.enter(index, ticket: UInt64(index), .interactive, milliseconds: 1, at: 0), turn)
        }
        XCTAssertEqual(queue.enter(8, ticket: 8, .prefetch, milliseconds: 1, at: 0), .later)
        XCTAssertEqual(queue.enter(9, ticket: 9, .prefetch, milliseconds: 1, at: 0), .refused(retryAfter: 1))
    }

    func testThatAClientWithManyLongJobsKeepsNoOtherClientWaiting() {
        // Given a worker, and a client of which one job took eight seconds and ten more wait
        let (greedy, modest) = (ClientKey([1]), ClientKey([2]))
        var queue = RenderQueue<String>(workers: 1, queue: 11, longestWait: 10_000)
        _ = queue.enter("at work", ticket: 1, .interactive, for: greedy, milliseconds: 1, at: 0)
        for ticket in 2...11 as ClosedRange<UInt64> {
            XCTAssertEqual(queue.enter("greedy", ticket: ticket, .interactive, for: greedy, milliseconds: 1, at: 0), .later)
        }
        XCTAssertEqual(queue.finish(1, at: 8000), ["greedy"])
        // When another client comes, then it waits for the one at work and for nothing else
        XCTAssertLessThan(queue.wait(.interactive, for: modest, at: 8000), 10)
        XCTAssertEqual(queue.enter("first", ticket: 21, .interactive, for: modest, milliseconds: 50, at: 8000), .later)
        XCTAssertEqual(queue.enter("second", ticket: 22, .interactive, for: modest, milliseconds: 50, at: 8000), .later)
        // And it is next, and after its first job again
        XCTAssertEqual(queue.finish(2, at: 8100), ["first"])
        XCTAssertEqual(queue.finish(21, at: 8150), ["second"])
        XCTAssertEqual(queue.finish(22, at: 8200), ["greedy"])
    }

    func testThatAFullQueueHasRoomForAClientThatHasNothingInIt() {
        // Given a queue that one client has filled
        let (greedy, modest) = (ClientKey([1]), ClientKey([2]))
        var queue = RenderQueue<String>(workers: 1, queue: 3, longestWait: 1e9)
        for ticket in 1...4 as ClosedRange<UInt64> {
            _ = queue.enter("\(ticket)", ticket: ticket, .interactive, for: greedy, milliseconds: 10, at: 0)
        }
        XCTAssertNil(queue.displace(.interactive, for: greedy, at: 0))
        XCTAssertNotNil(queue.refusal(.interactive, for: greedy, at: 0))
        // When another client comes, then the last of the first one's makes way
        XCTAssertNil(queue.refusal(.interactive, for: modest, at: 0))
        XCTAssertEqual(queue.displace(.interactive, for: modest, at: 0), "4")
        XCTAssertEqual(queue.enter("modest", ticket: 5, .interactive, for: modest, milliseconds: 10, at: 0), .later)
        XCTAssertEqual(queue.waiting(.interactive), 3)
        XCTAssertEqual(queue.leave(4), nil)
    }

    func testThatOneShortJobPassesLongOnes() {
        // Given two workers with jobs of many seconds, and a client with more of them
        let (greedy, modest, other) = (ClientKey([1]), ClientKey([2]), ClientKey([3]))
        var queue = RenderQueue<String>(workers: 2, queue: 8, longestWait: 10_000)
        for ticket in 1...2 as ClosedRange<UInt64> {
            XCTAssertEqual(queue.enter("", ticket: ticket, .interactive, for: greedy, milliseconds: 9000, at: 0), .now)
        }
        XCTAssertEqual(queue.enter("long", ticket: 3, .interactive, for: greedy, milliseconds: 9000, at: 0), .later)
        // When a poster is to be made, then it begins, and no prefetch does
        XCTAssertEqual(queue.enter("", ticket: 4, .prefetch, milliseconds: 10, at: 0), .later)
        XCTAssertNil(queue.refusal(.interactive, for: modest, at: 0))
        XCTAssertEqual(queue.enter("", ticket: 5, .interactive, for: modest, milliseconds: 10, at: 0), .now)
        // And the next one waits for it, and not for the long ones
        XCTAssertEqual(queue.wait(.interactive, for: other, at: 0), 10)
        XCTAssertEqual(queue.enter("second", ticket: 6, .interactive, for: other, milliseconds: 10, at: 0), .later)
        XCTAssertEqual(queue.wait(.interactive, for: modest, at: 0), 20)
        XCTAssertEqual(queue.wait(.interactive, for: modest, milliseconds: 9000, at: 0), 9005)
        XCTAssertEqual(queue.finish(5, at: 10), ["second"])
        // And there is no more than one more than there are workers, also after a long one has ended
        XCTAssertEqual(queue.finish(1, at: 10), [])
        XCTAssertEqual(queue.enter("third", ticket: 7, .interactive, for: greedy, milliseconds: 10, at: 10), .later)
        // And when a worker is free, then the long one that waits has its turn, and the short one behind it begins beside it
        XCTAssertEqual(queue.finish(6, at: 20), ["long", "third"])
    }

    func testThatTheOnlyJobOfAClientWaitsWhateverIsPredicted() {
        // Given a worker with a job that takes longer than anybody may wait
        let (greedy, modest) = (ClientKey([1]), ClientKey([2]))
        var queue = RenderQueue<String>(workers: 1, queue: 8, longestWait: 1000)
        _ = queue.enter("", ticket: 1, .interactive, for: greedy, milliseconds: 9000, at: 0)
        // When clients come with long jobs, then each may wait with one
        for (ticket, client) in [(2, greedy), (3, modest)] as [(UInt64, ClientKey)] {
            XCTAssertNil(queue.refusal(.interactive, for: client, milliseconds: 500, at: 0))
            XCTAssertEqual(queue.enter("", ticket: ticket, .interactive, for: client, milliseconds: 500, at: 0), .later)
            XCTAssertNotNil(queue.refusal(.interactive, for: client, milliseconds: 500, at: 0))
        }
    }

    func testThatWhoLeavesIsSkipped() {
        var queue = RenderQueue<String>(workers: 1, queue: 8, longestWait: 1000)
        _ = queue.enter("at work", ticket: 1, .interactive, milliseconds: 10, at: 0)
        _ = queue.enter("leaver", ticket: 2, .interactive, milliseconds: 10, at: 0)
        _ = queue.enter("stayer", ticket: 3, .interactive, milliseconds: 10, at: 0)
        XCTAssertEqual(queue.leave(2), "leaver")
        XCTAssertNil(queue.leave(2))
        XCTAssertEqual(queue.finish(1, wasBegun: false, at: 0), ["stayer"])
        XCTAssertEqual(queue.leaveAll(), [])
    }

    func testThatPredictionsLearnHowFastThisMachineIs() {
        var queue = RenderQueue<Int>(workers: 1, queue: 8, longestWait: 1000)
        for ticket in 0..<100 as Range<UInt64> {
            _ = queue.enter(0, ticket: ticket, .interactive, milliseconds: 10, at: 0)
            _ = queue.finish(ticket, at: 40)
        }
        XCTAssertEqual(queue.slowness, 4, accuracy: 0.01)
        _ = queue.enter(0, ticket: 100, .interactive, milliseconds: 100, at: 0)
        XCTAssertEqual(queue.wait(.interactive, at: 0), 400, accuracy: 1)
    }
}
