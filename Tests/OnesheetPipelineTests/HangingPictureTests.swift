import Foundation
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// Pictures that make a codec hang.
final class HangingPictureTests: XCTestCase {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let door = ThreadDoor()

    func testThatARenderThatHangsIsAnsweredAndNotBegunAgain() async throws {
        // Given a picture whose decoding hangs
        let pool = RenderPool(workers: 2, queue: 8, deadline: .seconds(2))
        let pipeline = try pipeline(.decoding, pool)
        // When it is requested twice
        let first = await Self.failure(pipeline, "hang")
        let second = await Self.failure(pipeline, "hang")
        // Then both requests time out, and one worker is stuck
        XCTAssertEqual([first, second], [.timedOut(.milliseconds(2200)), .timedOut(.milliseconds(2200))])
        XCTAssertEqual(door.arrived, 1)
        XCTAssertEqual(pool.stuck.render, 1)
        XCTAssertEqual(transport.count(), 1)
        // And other pictures are rendered
        let other = try await pipeline.image(for: Self.request("well"))
        XCTAssertEqual(other.origin, .made)
    }

    func testThatHeadersThatHangHoldNeitherThePoolOfTasksNorARender() async throws {
        // Given more pictures whose headers hang than this machine has processors
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        let pool = RenderPool(workers: 1, queue: 8, longestWait: .milliseconds(200), deadline: .seconds(1))
        let pipeline = try pipeline(.header, pool)
        // When all are requested
        let errors = await withTaskGroup(of: Failure?.self) { group in
            for number in 0..<count { group.addTask { await Self.failure(pipeline, "hang\(number)") } }
            // Then tasks continue; otherwise this would wait for a minute, until the latch opens itself
            await door.hasBeenReached()
            let made = try? await pool.run { () throws(Failure) in 5 }
            XCTAssertEqual(made, 5)
            return await group.reduce(into: []) { $0.append($1) }
        }
        // And all get errors: two time out, and those behind them are told to retry
        XCTAssertEqual(errors.count { $0 == .timedOut(.seconds(1)) }, 2)
        XCTAssertEqual(
            errors.count { $0?.title == "Overloaded" }, count - 2)
        XCTAssertEqual(pool.stuck.examine, 2)
        XCTAssertEqual(door.arrived, 2)
    }

    func testThatAnElectionIsNotHeldUpByACandidateThatHangs() async throws {
        // Given a search that finds a hanging picture and a good one
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/hang") { _ in HTTPAnswer(status: 200, body: HangingCodec.file) }
        transport.on("http://127.0.0.1/well") { _ in HTTPAnswer(status: 200, body: picture) }
        let source = ScriptedSource { _ in
            ["hang", "well"].map { PosterCandidate(.http(url: "http://127.0.0.1/\($0)"), trust: 1) }
        }
        let pool = RenderPool(workers: 2, queue: 8, deadline: .seconds(2))
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: clock, pool: pool, codecs: [HangingCodec(part: .decoding, door: door)], case: self)
        addTeardownBlock { [door] in door.open() }
        // When the poster is requested, then it is the good one
        let answer = try await pipeline.image(for: ImageRequest(TitleReference(source: "films", id: "1"), Transform()))
        XCTAssertEqual(answer.entry.body, picture)
    }

    private func pipeline(_ part: HangingCodec.Part, _ pool: RenderPool) throws -> Pipeline {
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/hang") { _ in HTTPAnswer(status: 200, body: HangingCodec.file) }
        transport.on("http://127.0.0.1/well") { _ in HTTPAnswer(status: 200, body: picture) }
        // Before the pool of the pipeline ends: blocks run in reverse order.
        defer { addTeardownBlock { [door] in door.open() } }
        return try .forTesting(
            ScriptedSource { id in [PosterCandidate(.http(url: "http://127.0.0.1/\(id)"))] }, transport: transport, clock: clock,
            pool: pool, codecs: [HangingCodec(part: part, door: door)], case: self)
    }

    private static func request(_ id: String) -> ImageRequest {
        var transform = Transform()
        (transform.width, transform.format) = (40, .jpeg)
        return ImageRequest(TitleReference(source: "films", id: id), transform)
    }

    private static func failure(_ pipeline: Pipeline, _ id: String) async -> Failure? {
        do throws(Failure) {
            _ = try await pipeline.image(for: request(id))
            return nil
        } catch {
            return error
        }
    }
}
