import Dispatch
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// Originals of a source itself, on a disk that may hang.
final class LocalOriginalsTests: XCTestCase {
    func testThatASourceThatHangsKeepsNoOtherWaiting() async throws {
        // Given two hanging reads on all threads of their source, and a waiting one
        let door = DispatchSemaphore(value: 0)
        addTeardownBlock { for _ in 0..<3 { door.signal() } }
        let held = LocalOriginals(queue: 3, time: .milliseconds(500))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    // When it times out, it is abandoned
                    await Self.assertFails(.source("stuck", .unavailable(reason: "no original in 0.5 seconds"))) {
                        try await held.bytes(of: "stuck") { () throws(SourceError) in
                            door.wait()
                            return ByteBuffer()
                        }
                    }
                }
            }
        }
        // Then further ones of that source are refused immediately, and another source is not affected
        await Self.assertFails(.overloaded(retryAfter: 1)) {
            try await held.bytes(of: "stuck") { () throws(SourceError) in ByteBuffer() }
        }
        let bytes = try await held.bytes(of: "well") { () throws(SourceError) in ByteBuffer(string: "picture") }
        XCTAssertEqual(bytes.buffer, ByteBuffer(string: "picture"))
    }

    func testThatTheTimeToComeBackFollowsFromHowLongOthersTook() async throws {
        // Given a source that takes a minute for each original
        let clock = ManualClock()
        let held = LocalOriginals(queue: 4, now: { clock.now.timeIntervalSince1970 })
        for _ in 0..<40 {
            _ = try await held.bytes(of: "slow") { () throws(SourceError) in
                clock.advance(by: .seconds(60))
                return ByteBuffer()
            }
        }
        // When both of its threads are busy and two reads wait
        let door = DispatchSemaphore(value: 0)
        let (begun, begins) = AsyncStream<Void>.makeStream()
        let waiting = (0..<4).map { _ in
            Task {
                try await held.bytes(of: "slow") { () throws(SourceError) in
                    begins.yield()
                    door.wait()
                    return ByteBuffer()
                }
            }
        }
        var count = 0
        for await _ in begun {
            count += 1
            if count == 2 { break }
        }
        await waitWhile(held.load(of: "slow") < 4)
        // Then the error of one more names the time for three, two at a time
        await Self.assertFails(.overloaded(retryAfter: 90)) {
            try await held.bytes(of: "slow") { () throws(SourceError) in ByteBuffer() }
        }
        for _ in 0..<4 { door.signal() }
        for task in waiting { _ = try await task.value }
    }

    func testThatWhatTheSourceThrowsIsTold() async {
        await Self.assertFails(.source("art", .unavailable(reason: "the disk is gone"))) {
            try await LocalOriginals().bytes(of: "art") { () throws(SourceError) in
                throw .unavailable(reason: "the disk is gone")
            }
        }
    }

    func testThatWhatItGivesIsCountedUntilNobodyHasIt() async throws {
        // Given memory for one original
        let memory = MemoryBudget(limit: 10)
        let held = LocalOriginals(memory: memory)
        var first: CountedBytes? = try await held.bytes(of: "art") { () throws(SourceError) in ByteBuffer(string: "12345678") }
        XCTAssertEqual(first?.buffer.readableBytes, 8)
        XCTAssertEqual(memory.reserved, 8)
        // When another comes, then there is no room until the first is released
        await Self.assertFails(.overloaded(retryAfter: 1)) {
            try await held.bytes(of: "art") { () throws(SourceError) in ByteBuffer(string: "123") }
        }
        first = nil
        await assertComesBack(memory)
    }

    private static func assertFails(
        _ expected: Failure, _ body: () async throws -> CountedBytes, line: UInt = #line
    ) async {
        do {
            _ = try await body()
            XCTFail("nothing was thrown", line: line)
        } catch {
            XCTAssertEqual(error as? Failure, expected, line: line)
        }
    }
}
