import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Originals that together need more memory than allowed.
final class MemoryUnderLoadTests: ServerTestCase {
    /// A picture of 24 megapixels that cannot be decoded row by row: the decoder stores three coefficients of two bytes for each
    /// pixel, and about a byte for the light that shrinking leaves out.
    private static let large = Result { () throws -> ByteBuffer in
        var pixels = try PixelBuffer(PixelLayout(width: 4000, height: 6000, model: .rgb), limits: Limits())
        for y in 0..<6000 {
            // Paler from row to row; drawing sample by sample would take longer than the test.
            pixels.withMutableRow(y) { row in row.withUnsafeMutableBufferPointer { $0.update(repeating: UInt8(y / 24)) } }
        }
        var configuration = JPEGCodec.Configuration()
        configuration.progressive = true
        // From this quality on, chroma has full resolution.
        return try JPEGCodec(configuration).encode(pixels, EncodeOptions(quality: 90))
    }
    private static let decoded = 4000 * 6000 * (3 * 2 + 1)

    func testThatFiveHundredConnectionsForLargeOriginalsAreAllAnsweredWithinTheBudget() async throws {
        // Given distinct originals of 24 megapixels, memory for one of them at a time, and a queue for all
        let (budget, tier) = (175 << 20, 4 << 20)
        XCTAssertLessThan(budget, 2 * Self.decoded)
        let large = try Self.large.get()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: large) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback], timeout: 60s }",
            keys: """
                limits: { memory: \(budget), queue: 500, queueTime: 1h, originConcurrency: 64, originQueue: 500, originTimeout: 60s,
                          workers: 2 }
                """, memory: "\(tier)")
        let before = try PeakMemory.begin()
        // When five hundred requests come at once, each on its own connection
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let request =
                        "GET /i/unsafe/w:60/plain/\(origin.url)/\(index)@jpg HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                    let answer = try await RawConnection.exchange([Array(request.utf8)], with: server.url, ends: false)
                    return String(decoding: answer.prefix(2000), as: UTF8.self)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let peak = try PeakMemory.end()
        // Then each gets a picture or, without memory for another one, a time for a retry
        let refused = answers.filter { $0.hasPrefix("HTTP/1.1 503 ") }
        let made = answers.count { $0.hasPrefix("HTTP/1.1 200 ") }
        let other = answers.first { !$0.hasPrefix("HTTP/1.1 503 ") && !$0.hasPrefix("HTTP/1.1 200 ") }
        XCTAssertEqual(made + refused.count, 500, other ?? "")
        XCTAssertGreaterThan(made, 0)
        XCTAssertGreaterThan(refused.count, 0, "the budget was not pressed")
        for answer in refused { XCTAssertTrue(answer.contains("Retry-After: "), answer) }
        // And the process never exceeded the memory for originals, pixels and the memory tier. The allowance covers buffers and
        // tasks of 500 connections and of the 500 clients in this process, stacks of threads, and memory that the allocator keeps.
        // A second picture at the same time would exceed it.
        let overhead = 118 << 20
        XCTAssertLessThan(budget + tier + overhead, 2 * Self.decoded)
        XCTAssertLessThan(peak - before, budget + tier + overhead)
        let health = try await server.send("/health")
        XCTAssertEqual(health.status, 200)
    }

    func testThatAnOriginalThatNeedsMoreThanThereIsIsRefusedForGood() async throws {
        // Given memory for half a picture
        let large = try Self.large.get()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: large) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }",
            keys: "limits: { memory: \(Self.decoded / 2) }")
        // When it is requested, then the error names the needed and the available memory, and no retry
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/a@jpg")
        assertProblem(answer, 422, "at most \(Self.decoded / 2) are allowed")
        XCTAssertNil(answer.field("Retry-After"))
    }

    func testThatLargeBlocksAreReturnedToTheSystemWhenTheyAreFreed() async throws {
        // Given a server, and a freed block so large that glibc would keep all smaller ones
        _ = try await server()
        free(malloc(31 << 20))
        // When memory of the size of originals is allocated, with a small block after each, until what was free in the heap is used up
        var (apart, inHeap): ([UnsafeMutableRawPointer], [UnsafeMutableRawPointer]) = ([], [])
        while apart.count < 100, inHeap.count < 1000 {
            let block = try XCTUnwrap(malloc(300 << 10))
            memset(block, 1, 300 << 10)
            if Self.isApart(block) { apart.append(block) } else { inHeap.append(block) }
            inHeap.append(try XCTUnwrap(malloc(20 << 10)))
        }
        // Then each further block has a mapping of its own
        XCTAssertEqual(apart.count, 100)
        XCTAssertEqual(apart.count { Self.isMapped($0) }, 100)
        // And the process returns it when it is freed. Another thread may have got the place of a few since.
        for block in apart + inHeap { free(block) }
        XCTAssertLessThan(apart.count { Self.isMapped($0) }, 10)
    }

    /// Whether a block of glibc is a mapping of its own: `IS_MMAPPED` in the word before it (malloc.c).
    private static func isApart(_ block: UnsafeMutableRawPointer) -> Bool { (block - 8).load(as: UInt.self) & 2 != 0 }

    /// Whether the address belongs to the process: msync(2) fails for one that does not.
    private static func isMapped(_ address: UnsafeMutableRawPointer) -> Bool {
        let page = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: address) & ~UInt(getpagesize() - 1))
        return msync(page, 1, MS_ASYNC) == 0
    }
}
