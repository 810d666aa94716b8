import Foundation
import NIOCore
import NIOEmbedded
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Popular responses as in-memory files. The test controls the time of the embedded loop.
final class OpenFileCacheTests: XCTestCase {
    private let clock = ManualClock()
    private let loop = EmbeddedEventLoop()

    func testThatAnAnswerIsAFileOnceItIsAskedForOften() throws {
        // Given a requested picture
        let kept = OpenFileCache(on: loop, clock: clock.wallClock)
        let (hit, body) = try prepared(bytes: 31_000)
        for _ in 0..<7 { XCTAssertNil(hit.whole(with: body, in: kept)) }
        // When it is requested again
        let file = try XCTUnwrap(hit.whole(with: body, in: kept))
        // Then head and body are in one file, which the next request gets too
        var bytes = hit.head.bytes
        bytes.writeRepeatingByte(7, count: 31_000)
        let length = file.region.readableBytes
        var read = [UInt8](repeating: 0, count: length)
        let count = try file.region.fileHandle.withUnsafeFileDescriptor { pread($0, &read, length, 0) }
        XCTAssertEqual(count, length)
        XCTAssertEqual(ByteBuffer(bytes: read), bytes)
        XCTAssertTrue(hit.whole(with: body, in: kept) === file)
        XCTAssertTrue(file.isUsable())
    }

    func testThatHeadsDoNotOutliveAClockThatIsSetBack() throws {
        let (hit, _) = try prepared(bytes: 9_000)
        XCTAssertTrue(hit.isGood(at: clock.now))
        clock.advance(by: .seconds(-86_400))
        XCTAssertFalse(hit.isGood(at: clock.now))
    }

    func testThatSmallAndLargeOnesAreNot() throws {
        let kept = OpenFileCache(on: loop, clock: clock.wallClock)
        for (bytes, isWorthIt) in [(0, false), (8191, false), (8192, true), (128 << 10, true), (128 << 10 + 1, false)] {
            let (hit, body) = try prepared(bytes: bytes)
            let files = (0..<32).compactMap { _ in hit.whole(with: body, in: kept) }
            XCTAssertEqual(!files.isEmpty, isWorthIt, "\(bytes)")
        }
    }

    func testThatThereAreNotManyAndThatTheyAreClosedWhenTheirSecondIsOver() throws {
        // Given more popular responses than the limit
        let kept = OpenFileCache(on: loop, clock: clock.wallClock)
        func files() throws -> [Weak] {
            try (0..<100).compactMap { _ in
                let (hit, body) = try prepared(bytes: 9_000)
                return (0..<8).compactMap { _ in hit.whole(with: body, in: kept) }.first.map(Weak.init)
            }
        }
        let first = try files()
        XCTAssertEqual(first.count, 32)
        // When time passes on the loop, but less than their second
        loop.advanceTime(by: .seconds(1))
        // Then they stay
        XCTAssertFalse(first.contains { $0.file == nil })
        // When the second is over
        clock.advance(by: .seconds(1))
        loop.advanceTime(by: .seconds(1))
        // Then they are closed, and others find room
        XCTAssertTrue(first.allSatisfy { $0.file == nil })
        XCTAssertEqual(try files().count, 32)
    }

    func testThatOnesWhoseSecondIsOverMakeRoomBeforeAnybodySweeps() throws {
        let kept = OpenFileCache(on: loop, clock: clock.wallClock)
        for _ in 0..<32 { XCTAssertTrue(kept.keep(try prepared(bytes: 9_000).0, length: 9_000)) }
        XCTAssertFalse(kept.keep(try prepared(bytes: 9_000).0, length: 9_000))
        clock.advance(by: .seconds(1))
        XCTAssertTrue(kept.keep(try prepared(bytes: 9_000).0, length: 9_000))
    }

    func testThatWhatSlowClientsHoldCountsToo() throws {
        // Given in-memory files that are still being sent
        let kept = OpenFileCache(on: loop, clock: clock.wallClock)
        var onTheirWay: [ReadyFile] = []
        for _ in 0..<10 {
            for _ in 0..<32 {
                let (hit, body) = try prepared(bytes: 100_000)
                onTheirWay += (0..<8).compactMap { _ in hit.whole(with: body, in: kept) }
            }
            clock.advance(by: .seconds(1))
        }
        // Then they have at most 16 MiB
        XCTAssertEqual(onTheirWay.count, (16 << 20) / onTheirWay[0].region.readableBytes)
        // When they have been sent
        onTheirWay = []
        // Then there is room again
        let (hit, body) = try prepared(bytes: 100_000)
        XCTAssertEqual((0..<8).compactMap { _ in hit.whole(with: body, in: kept) }.count, 1)
    }

    func testThatNothingIsLeftWhenAllIsDropped() throws {
        var kept: OpenFileCache? = OpenFileCache(on: loop, clock: clock.wallClock)
        var (hit, body): (PreparedResponse?, ReadyBody) = try prepared(bytes: 9_000)
        let file = try XCTUnwrap((0..<8).compactMap { _ in kept.flatMap { hit?.whole(with: body, in: $0) } }.first.map(Weak.init))
        XCTAssertNotNil(file.file)
        (kept, hit, body) = (nil, nil, .bytes(ByteBuffer()))
        XCTAssertNil(file.file)
    }

    private struct Weak {
        weak var file: ReadyFile?
        init(_ file: ReadyFile) { self.file = file }
    }

    private func prepared(bytes: Int) throws -> (PreparedResponse, ReadyBody) {
        let body = ByteBuffer(repeating: 7, count: bytes)
        let hit = CacheHit(inMemory: .sample(body, at: clock))
        let common = CommonFields(
            cors: CORS(configuration: CORSConfiguration()), server: nil, strictTransportSecurity: nil)
        let prepared = PreparedResponse(
            hit, at: clock.wallClock.now, common, facts: AddressFacts(), counter: PipelineMetrics().images.counter(of: "memory"))
        return (try XCTUnwrap(prepared), .bytes(body))
    }
}
