import Dispatch
import NIOCore
import OnesheetCore
import XCTest

@testable import OnesheetPipeline

/// Originals that a source holds itself, on a disk that may hang.
final class HeldOriginalsTests: XCTestCase {
    func testThatASourceThatHangsKeepsNoOtherWaiting() async throws {
        // Given two that hang, on all the threads of their source, and one that waits behind them
        let door = DispatchSemaphore(value: 0)
        addTeardownBlock { for _ in 0..<3 { door.signal() } }
        let held = HeldOriginals(queue: 3, time: .milliseconds(500))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    // When its time is up it is left behind
                    await Self.assertFails(.source("stuck", .unavailable(reason: "no original in 0.5 seconds"))) {
                        try await held.bytes(of: "stuck") { () throws(SourceError) in
                            door.wait()
                            return ByteBuffer()
                        }
                    }
                }
            }
        }
        // Then more of that source are refused at once, and another one gives what it has
        await Self.assertFails(.overloaded(retryAfter: 1)) {
            try await held.bytes(of: "stuck") { () throws(SourceError) in ByteBuffer() }
        }
        let bytes = try await held.bytes(of: "well") { () throws(SourceError) in ByteBuffer(string: "picture") }
        XCTAssertEqual(bytes, ByteBuffer(string: "picture"))
    }

    func testThatWhatTheSourceThrowsIsTold() async {
        await Self.assertFails(.source("art", .unavailable(reason: "the disk is gone"))) {
            try await HeldOriginals().bytes(of: "art") { () throws(SourceError) in
                throw .unavailable(reason: "the disk is gone")
            }
        }
    }

    private static func assertFails(
        _ expected: PipelineError, _ body: () async throws -> ByteBuffer, line: UInt = #line
    ) async {
        do {
            _ = try await body()
            XCTFail("nothing was thrown", line: line)
        } catch {
            XCTAssertEqual(error as? PipelineError, expected, line: line)
        }
    }
}
