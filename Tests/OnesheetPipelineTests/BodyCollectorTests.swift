import NIOCore
import OnesheetCore
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

final class BodyCollectorTests: XCTestCase {
    func testThatMemoryIsReservedForWhatIsThere() throws {
        // Given a body with a large announced length
        let budget = MemoryBudget(limit: 1 << 30)
        var collector = try BodyCollector(announced: 32 << 20, limit: 32 << 20, memory: budget.reserve(0))
        XCTAssertEqual(budget.reserved, 0)
        // When its first byte arrives
        try collector.add(ByteBuffer(bytes: [1]))
        // Then little is reserved
        XCTAssertEqual(budget.reserved, 256 << 10)
        // When it arrives in pieces
        for _ in 0..<511 {
            try collector.add(ByteBuffer(repeating: 2, count: 65_536))
            // Then at most twice the received bytes are reserved, except at the beginning
            XCTAssertLessThanOrEqual(budget.reserved, max(256 << 10, 2 * collector.bytes.readableBytes + (64 << 10)))
            XCTAssertGreaterThanOrEqual(budget.reserved, collector.bytes.capacity)
        }
        XCTAssertEqual(collector.bytes.readableBytes, 511 * 65_536 + 1)
    }

    func testThatGrowingCountsTheOldBytesAndTheNew() throws {
        // Given room for a body, but not for a body and its copy
        let budget = MemoryBudget(limit: 300 << 10)
        var collector = try BodyCollector(announced: nil, limit: 1 << 20, memory: budget.reserve(0))
        try collector.add(ByteBuffer(repeating: 1, count: 128 << 10))
        // When it grows
        XCTAssertThrowsError(try collector.add(ByteBuffer(bytes: [1]))) {
            // Then it is refused, and the received bytes stay reserved
            XCTAssertEqual($0 as? BodyCollector.Refusal, .noMemory)
        }
        XCTAssertEqual(budget.reserved, 128 << 10)
    }

    func testThatMoreThanMayComeIsRefused() throws {
        let budget = MemoryBudget(limit: 1 << 20)
        XCTAssertThrowsError(try BodyCollector(announced: 11, limit: 10, memory: budget.reserve(0)))
        var collector = try BodyCollector(announced: nil, limit: 10, memory: budget.reserve(0))
        try collector.add(ByteBuffer(repeating: 1, count: 10))
        XCTAssertThrowsError(try collector.add(ByteBuffer(bytes: [1]))) {
            XCTAssertEqual($0 as? BodyCollector.Refusal, .tooLarge)
        }
    }
}
