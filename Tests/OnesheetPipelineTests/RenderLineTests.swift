import OnesheetCore
import XCTest

@testable import OnesheetPipeline

final class RenderLineTests: XCTestCase {
    func testThatPeopleComeBeforePrefetching() {
        // Given one worker at work, with prefetching and then people waiting
        var line = RenderLine<String>(workers: 1, queue: 8, longestWait: 1000)
        XCTAssertEqual(line.enter(line.ticket(), .prefetch, 10, "first"), .now)
        for name in ["p1", "p2"] { XCTAssertEqual(line.enter(line.ticket(), .prefetch, 10, name), .later) }
        for name in ["i1", "i2"] { XCTAssertEqual(line.enter(line.ticket(), .interactive, 10, name), .later) }
        // When the worker is free again and again, then people come first, each lane in its order
        XCTAssertEqual((0..<5).map { _ in line.finish(10, took: 10) }, ["i1", "i2", "p1", "p2", nil])
        XCTAssertEqual(line.load, 0)
    }

    func testThatNobodyIsLetWaitLongerThanIsOfUse() {
        // Given a worker with two seconds of work
        var line = RenderLine<Int>(workers: 1, queue: 100, longestWait: 2000)
        _ = line.enter(line.ticket(), .interactive, 2000, 0)
        XCTAssertEqual(line.enter(line.ticket(), .interactive, 1500, 1), .later)
        // When one more comes, then it is told when to come back
        XCTAssertEqual(line.enter(line.ticket(), .interactive, 10, 2), .refused(retryAfter: 3))
        // And prefetching, which nobody waits for, may wait
        XCTAssertEqual(line.enter(line.ticket(), .prefetch, 10, 3), .later)
    }

    func testThatAFullQueueRefuses() {
        var line = RenderLine<Int>(workers: 1, queue: 1, longestWait: 1e9)
        for (index, turn) in [RenderLine<Int>.Turn.now, .later, .refused(retryAfter: 1)].enumerated() {
            XCTAssertEqual(line.enter(line.ticket(), .interactive, 1, index), turn)
        }
        XCTAssertEqual(line.enter(line.ticket(), .prefetch, 1, 9), .later)
        XCTAssertEqual(line.enter(line.ticket(), .prefetch, 1, 9), .refused(retryAfter: 1))
    }

    func testThatWhoLeavesIsSkipped() {
        var line = RenderLine<String>(workers: 1, queue: 8, longestWait: 1000)
        _ = line.enter(line.ticket(), .interactive, 10, "at work")
        let (leaver, stayer) = (line.ticket(), line.ticket())
        _ = line.enter(leaver, .interactive, 10, "leaver")
        _ = line.enter(stayer, .interactive, 10, "stayer")
        XCTAssertEqual(line.leave(leaver), "leaver")
        XCTAssertNil(line.leave(leaver))
        XCTAssertEqual(line.finish(10, took: nil), "stayer")
    }

    func testThatPredictionsLearnHowFastThisMachineIs() {
        var line = RenderLine<Int>(workers: 1, queue: 8, longestWait: 1000)
        for _ in 0..<100 {
            _ = line.enter(line.ticket(), .interactive, 10, 0)
            _ = line.finish(10, took: 40)
        }
        XCTAssertEqual(line.slowness, 4, accuracy: 0.01)
        _ = line.enter(line.ticket(), .interactive, 100, 0)
        XCTAssertEqual(line.wait(.interactive), 200, accuracy: 1)
    }
}
