import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// Originals and pictures are counted for as long as they exist.
final class OriginalMemoryTests: XCTestCase {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let title = TitleReference(source: "films", id: "1")

    func testThatAnOriginalKeepsItsMemoryWhateverItIsChangedTo() throws {
        // Given an original with a memory reservation
        let memory = MemoryBudget(limit: 100)
        let body = ByteBuffer(repeating: 0, count: 60)
        let entry = CacheEntry(
            body: body, mediaType: "image/png", validator: Validator.of(body), created: clock.wallClock.now, cacheTime: .never,
            presentation: Presentation(width: 4, height: 6))
        var original: Original? = Original(entry: entry, reservation: memory.charge(60))
        // When it is changed in every way
        let candidate = PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"), site: "site", page: "page")
        original = original?.from(candidate)
        original = original?.showing(PerceptualHash(bits: 7))
        original = try original?.foundAs(XCTUnwrap(original))
        original = original?.standingIn()
        // Then it keeps the reservation and has the changes
        XCTAssertEqual(memory.reserved, 60)
        XCTAssertEqual(original?.entry.provenance.page, "page")
        XCTAssertEqual(original?.entry.presentation.perceptualHash, 7)
        XCTAssertEqual(original?.size?.height, 6)
        // Until it is released
        original = nil
        XCTAssertEqual(memory.reserved, 0)
    }

    func testThatAllCandidatesOfAnElectionAreCounted() async throws {
        // Given a search with three different pictures, the last of which is slow
        let pictures = try (0..<3).map { try Pipeline.picture(shade: 60 * $0) }
        let gate = Gate()
        for (number, picture) in pictures.enumerated() where number < 2 {
            transport.on("http://127.0.0.1/\(number)") { _ in HTTPAnswer(status: 200, body: picture) }
        }
        transport.hold("http://127.0.0.1/2", at: gate) { _ in HTTPAnswer(status: 200, body: pictures[2]) }
        let pool = RenderPool(workers: 2, queue: 8)
        let source = ScriptedSource { _ in
            (0..<3).map { PosterCandidate(.http(url: "http://127.0.0.1/\($0)"), width: 60, height: 90, trust: 1) }
        }
        let pipeline = try Pipeline.forTesting(source, transport: transport, clock: clock, pool: pool, case: self)
        // When the first two have been evaluated
        let selection = Task { [title] in try await pipeline.image(for: ImageRequest(title, Transform())) }
        await gate.hasBeenReached()
        // Then both are counted, because one of them will be the poster
        XCTAssertEqual(pool.memory.reserved, pictures[0].readableBytes + pictures[1].readableBytes)
        gate.open()
        _ = try await selection.value
        await assertComesBack(pool.memory)
    }

    func testThatLookingAtACandidateTakesMemoryThatThereHasToBe() async throws {
        // Given a search that finds a picture, and too little memory to decode it
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/1") { _ in HTTPAnswer(status: 200, body: picture) }
        let memory = MemoryBudget(limit: picture.readableBytes + 100)
        let pool = RenderPool(workers: 1, queue: 8, memory: memory)
        let source = ScriptedSource { _ in
            (1...2).map { PosterCandidate(.http(url: "http://127.0.0.1/\($0)"), trust: 1) }
        }
        let pipeline = try Pipeline.forTesting(source, transport: transport, clock: clock, pool: pool, case: self)
        // When its poster is requested
        do throws(Failure) {
            _ = try await pipeline.image(for: ImageRequest(title, Transform()))
            XCTFail("nothing was thrown")
        } catch {
            // Then it is refused, and not decoded
            XCTAssertEqual(error.title, "Not a usable image")
            XCTAssertTrue(error.message.hasSuffix("at most \(memory.limit) are allowed"), error.message)
        }
        await assertComesBack(memory)
    }

    func testThatWhatWasMadeIsCountedUntilItIsSent() async throws {
        // Given a poster
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/1") { _ in HTTPAnswer(status: 200, body: picture) }
        let pool = RenderPool(workers: 1, queue: 8)
        let pipeline = try Pipeline.forTesting(
            ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1"))] }, transport: transport, clock: clock,
            pool: pool,
            case: self)
        var transform = Transform()
        transform.width = 40
        // When a variant is made
        var answer: ImageAnswer? = try await pipeline.image(for: ImageRequest(title, transform))
        // Then its bytes are counted while the answer exists
        let size = try XCTUnwrap(answer?.entry.body.readableBytes)
        await waitWhile(pool.memory.reserved != size)
        XCTAssertEqual(pool.memory.reserved, size)
        answer = nil
        await assertComesBack(pool.memory)
    }
}

extension XCTestCase {
    /// Fails unless all of `memory` is released: the caller may continue before the work releases it.
    func assertComesBack(_ memory: MemoryBudget, line: UInt = #line) async {
        await waitWhile(memory.reserved > 0)
        XCTAssertEqual(memory.reserved, 0, line: line)
    }
}
