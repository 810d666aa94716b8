import OnesheetCore
import XCTest

@testable import OnesheetPipeline

final class RenderQueueTests: XCTestCase {
    func testThatPeopleComeBeforePrefetching() {
        // Given one worker at work, with prefetching and then people waiting
        var line = RenderQueue<String>(workers: 1, queue: 8, longestWait: 1000)
        XCTAssertEqual(line.enter(1, .prefetch, milliseconds: 10, "first", at: 0), .now)
        for (ticket, name) in [(2, "p1"), (3, "p2")] as [(UInt64, String)] {
            XCTAssertEqual(line.enter(ticket, .prefetch, milliseconds: 10, name, at: 0), .later)
        }
        for (ticket, name) in [(4, "i1"), (5, "i2")] as [(UInt64, String)] {
            XCTAssertEqual(line.enter(ticket, .interactive, milliseconds: 10, name, at: 0), .later)
        }
        // When the worker is free again and again, then people come first, each lane in its order
        let order: [UInt64] = [1, 4, 5, 2, 3]
        XCTAssertEqual(order.map { line.finish($0, at: 10) }, ["i1", "i2", "p1", "p2", nil])
        XCTAssertEqual(line.load, 0)
    }

    func testThatNobodyIsLetWaitLongerThanIsOfUse() {
        // Given a worker with two seconds of work
        var line = RenderQueue<Int>(workers: 1, queue: 100, longestWait: 2000)
        _ = line.enter(1, .interactive, milliseconds: 2000, 0, at: 0)
        XCTAssertEqual(line.enter(2, .interactive, milliseconds: 500, 1, at: 1000), .later)
        // When one more comes, then it is told when to come back
        XCTAssertEqual(line.enter(3, .interactive, milliseconds: 1000, 2, at: 1000), .later)
        XCTAssertEqual(line.enter(4, .interactive, milliseconds: 10, 3, at: 1000), .refused(retryAfter: 3))
        // And prefetching, which nobody waits for, may wait
        XCTAssertEqual(line.enter(5, .prefetch, milliseconds: 10, 4, at: 1000), .later)
    }

    func testThatAPredictionThatProvedWrongCounts() {
        // Given a job that was to take a millisecond, and after it one in line
        var line = RenderQueue<Int>(workers: 1, queue: 100, longestWait: 2000, deadline: 20_000)
        _ = line.enter(1, .interactive, milliseconds: 1, 0, at: 0)
        XCTAssertEqual(line.enter(2, .interactive, milliseconds: 1, 1, at: 0), .later)
        // When it still runs after three seconds, then it will probably take as long again, and nobody is let wait for that
        XCTAssertEqual(line.enter(3, .interactive, milliseconds: 1, 2, at: 3000), .refused(retryAfter: 4))
        // And beyond its deadline nobody is told more than that
        XCTAssertEqual(line.stuck(at: 20_000), 0)
        XCTAssertEqual(line.stuck(at: 1_000_000), 1)
        XCTAssertEqual(line.enter(4, .interactive, milliseconds: 1, 3, at: 1_000_000), .refused(retryAfter: 21))
    }

    func testThatAWorkerThatIsStuckMakesNobodyWaitWhoHasAnother() {
        // Given two workers, of whom one is stuck, and the other has a short job
        var line = RenderQueue<Int>(workers: 2, queue: 100, longestWait: 2000, deadline: 20_000)
        _ = line.enter(1, .interactive, milliseconds: 1, 0, at: 0)
        _ = line.enter(2, .interactive, milliseconds: 100, 0, at: 1_000_000)
        // When another comes, then it waits for the short one only
        XCTAssertEqual(line.wait(.interactive, at: 1_000_000), 100)
        XCTAssertEqual(line.enter(3, .interactive, milliseconds: 50, 0, at: 1_000_000), .later)
        XCTAssertEqual(line.wait(.interactive, at: 1_000_000), 150)
    }

    func testThatWorkersShareWhatWaits() {
        // Given two workers that come free at different times, and one second of work in line
        var line = RenderQueue<Int>(workers: 2, queue: 100, longestWait: 1e6)
        _ = line.enter(1, .interactive, milliseconds: 100, 0, at: 0)
        _ = line.enter(2, .interactive, milliseconds: 300, 0, at: 0)
        _ = line.enter(3, .interactive, milliseconds: 1000, 0, at: 0)
        XCTAssertEqual(line.wait(.interactive, at: 0), 700)
        // When the one in line leaves, then a newcomer is next
        XCTAssertNotNil(line.leave(3))
        XCTAssertEqual(line.wait(.interactive, at: 0), 100)
    }

    func testThatAFullQueueRefuses() {
        var line = RenderQueue<Int>(workers: 1, queue: 1, longestWait: 1e9)
        for (index, turn) in [RenderQueue<Int>.Turn.now, .later, .refused(retryAfter: 1)].enumerated() {
            XCTAssertEqual(line.enter(UInt64(index), .interactive, milliseconds: 1, index, at: 0), turn)
        }
        XCTAssertEqual(line.enter(8, .prefetch, milliseconds: 1, 8, at: 0), .later)
        XCTAssertEqual(line.enter(9, .prefetch, milliseconds: 1, 9, at: 0), .refused(retryAfter: 1))
    }

    func testThatWhoLeavesIsSkipped() {
        var line = RenderQueue<String>(workers: 1, queue: 8, longestWait: 1000)
        _ = line.enter(1, .interactive, milliseconds: 10, "at work", at: 0)
        _ = line.enter(2, .interactive, milliseconds: 10, "leaver", at: 0)
        _ = line.enter(3, .interactive, milliseconds: 10, "stayer", at: 0)
        XCTAssertEqual(line.leave(2), "leaver")
        XCTAssertNil(line.leave(2))
        XCTAssertEqual(line.finish(1, wasBegun: false, at: 0), "stayer")
        XCTAssertEqual(line.leaveAll(), [])
    }

    func testThatPredictionsLearnHowFastThisMachineIs() {
        var line = RenderQueue<Int>(workers: 1, queue: 8, longestWait: 1000)
        for ticket in 0..<100 as Range<UInt64> {
            _ = line.enter(ticket, .interactive, milliseconds: 10, 0, at: 0)
            _ = line.finish(ticket, at: 40)
        }
        XCTAssertEqual(line.slowness, 4, accuracy: 0.01)
        _ = line.enter(100, .interactive, milliseconds: 100, 0, at: 0)
        XCTAssertEqual(line.wait(.interactive, at: 0), 400, accuracy: 1)
    }
}
