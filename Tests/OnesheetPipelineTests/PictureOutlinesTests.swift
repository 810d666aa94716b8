import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// The outlines of pictures, which come from processes that a picture may have taken over.
final class PictureOutlinesTests: XCTestCase {
    private let engine = CountingEngine()
    private let pool = RenderPool(workers: 1, queue: 8)
    private let memory = MemoryTier()
    private let file = PictureFile(bytes: ByteBuffer(string: "picture"), validator: "v", origin: "o")

    override func tearDown() async throws { await pool.shutdown() }

    func testThatAKnownPictureIsNotLookedAtAgain() async throws {
        let outlines = PictureOutlines(engine: engine, pool: pool, memory: memory)
        // Given a picture that was looked at when it came
        _ = try outlines.look(at: file)
        // When two variants are made
        for _ in 0..<2 {
            let width = try await outlines.run(on: file, predicting: Self.cost) { _ throws(Failure) in 9 }
            XCTAssertEqual(width, 9)
        }
        // Then its header is not parsed again
        XCTAssertEqual(engine.looks, 1)
    }

    func testThatEveryPurgeForgetsAllOutlines() async throws {
        // Given an outline of a picture
        let cache = Cache(memory: memory, logger: Logger(label: "test"))
        let outlines = PictureOutlines(engine: engine, pool: pool, memory: memory)
        let reaches: [PurgeReach] = [.allServers(), .allServersAgain, .thisServer]
        for (number, reach) in reaches.enumerated() {
            for _ in 0..<2 { _ = try await outlines.outline(of: file) }
            XCTAssertEqual(engine.looks, number + 1, "before the purge of \(reach)")
            // When something is purged
            _ = try await cache.purge([.tag(.source("sample"))], on: reach)
            // Then the server looks again
            _ = try await outlines.outline(of: file)
            XCTAssertEqual(engine.looks, number + 2, "after the purge of \(reach)")
        }
        // But not after a removal of expired entries, which purges nothing
        _ = try await cache.purge([.expired])
        _ = try await outlines.outline(of: file)
        XCTAssertEqual(engine.looks, reaches.count + 1)
    }

    func testThatTheCopyOfAPictureCountsTowardsTheMemoryBudget() async throws {
        // Given engines with and without processes
        for copies in [true, false] {
            let during = Mutex<[Int]>([])
            let budget = pool.memory
            let engine = CountingEngine(copiesFiles: copies) { during.withLock { $0.append(budget.reserved) } }
            let outlines = PictureOutlines(engine: engine, pool: pool, memory: memory)
            // When they read and make a picture
            _ = try await outlines.run(on: file, predicting: Self.cost) { _ throws(Failure) in
                during.withLock { $0.append(budget.reserved) }
            }
            // Then its copy counts for that time
            XCTAssertEqual(during.withLock { $0 }, copies ? [7, 7] : [0, 0])
            XCTAssertEqual(budget.reserved, 0)
        }
    }

    func testThatAnOutlineIsForgottenWhenTheWorkFails() async throws {
        let outlines = PictureOutlines(engine: engine, pool: pool, memory: memory)
        for number in 1...3 {
            // When work fails, in its prediction or later
            do throws(Failure) {
                try await outlines.run(
                    on: file,
                    predicting: { outline throws(RenderError) in
                        if number == 2 { throw .tooMuchMemory(bytes: 2, limit: 1) }
                        return try Self.cost(outline)
                    }
                ) { _ throws(Failure) in throw .render(.lost(.crash)) }
                XCTFail("it succeeded")
            } catch {
                XCTAssertEqual(error, .render(number == 2 ? .tooMuchMemory(bytes: 2, limit: 1) : .lost(.crash)))
            }
            // Then the next work looks again
            XCTAssertEqual(engine.looks, number)
        }
    }

    private static func cost(_ outline: PictureOutline) throws(RenderError) -> RenderCost {
        RenderCost(milliseconds: Double(outline.width), bytes: 0)
    }
}

/// Counts looks at headers.
private final class CountingEngine: PictureEngine {
    private let count = Atomic(0)
    var looks: Int { count.load(ordering: .relaxed) }

    let formats: [ImageFormat] = [.jpeg]
    let isReady = true
    let processes = 0
    let copiesFiles: Bool
    private let look: @Sendable () -> Void

    /// - Parameter look: called at each look.
    init(copiesFiles: Bool = false, look: @escaping @Sendable () -> Void = {}) {
        self.copiesFiles = copiesFiles
        self.look = look
    }

    func outline(of file: PictureFile) throws(RenderError) -> PictureOutline {
        count.add(1, ordering: .relaxed)
        look()
        return PictureOutline(ImageHeader(format: .jpeg, width: 2, height: 3, model: .rgb), count: file.bytes.readableBytes)
    }

    func cost(of outline: PictureOutline, as transforms: [Transform]) throws(RenderError) -> RenderCost {
        throw .unrecognizedFormat
    }
    func costOfHash(of outline: PictureOutline) throws(RenderError) -> RenderCost { throw .unrecognizedFormat }
    func hash(of file: PictureFile, predicted cost: RenderCost) throws(RenderError) -> PerceptualHash { throw .unrecognizedFormat }
    func warmUp() {}
    func shutdown() {}

    func render(
        _ file: PictureFile, as transforms: [Transform], predicted cost: RenderCost
    ) throws(RenderError) -> [RenderedImage] { throw .unrecognizedFormat }
}
