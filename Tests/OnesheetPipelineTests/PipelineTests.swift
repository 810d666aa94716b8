import JPEGCodec
import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// The pipeline with the real memory tier and codecs; the test provides the source and the network.
final class PipelineTests: XCTestCase {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let title = TitleReference(source: "films", id: "1")

    func testThatAMissIsMadeAndAHitIsNot() async throws {
        // Given a poster at an origin
        let picture = try jpeg()
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        // When it is requested twice
        let first = try await pipeline.image(for: request(width: 40))
        let second = try await pipeline.image(for: request(width: 40))
        // Then the second comes from memory with the same bytes
        XCTAssertEqual(first.origin, .made)
        XCTAssertEqual(second.origin, .memory)
        XCTAssertEqual(first.entry, second.entry)
        XCTAssertEqual(first.timings.map(\.stage), ["origin", "render", "store"])
        XCTAssertEqual(pipeline.metrics.counts.renders, 1)
    }

    func testThatWhatAFlightHasStoredSinceALookUpIsNotMadeAgain() async throws {
        // Given a request whose lookup missed
        let picture = try jpeg()
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        let missed = CacheLookUp.absent
        // And a flight for the same variant that ends before the request continues
        let first = try await pipeline.image(for: request(width: 40))
        // When the request continues, beside one for another variant
        let answers = try await pipeline.images(for: [request(width: 40), request(width: 50)], after: missed)
        // Then only the other variant is made
        XCTAssertEqual(answers.map(\.origin), [.memory, .made])
        XCTAssertEqual(answers[0].entry, first.entry)
        XCTAssertEqual(pipeline.metrics.counts.renders, 2)
    }

    func testThatAnotherSizeUsesTheOriginalThatIsThere() async throws {
        // Given a variant in the cache
        let picture = try jpeg()
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        _ = try await pipeline.image(for: request(width: 40))
        // When another is requested
        _ = try await pipeline.image(for: request(width: 50))
        // Then the origin is not requested again
        XCTAssertEqual(transport.count(), 1)
    }

    func testThatTheNextCandidateIsTakenWhenTheBestOneIsNoPicture() async throws {
        // Given a best candidate that is a page, and a second that does not exist
        let picture = try jpeg()
        transport.on("http://127.0.0.1/page", "<html>")
        transport.on("http://127.0.0.1/gone", status: 404, "")
        transport.on("http://127.0.0.1/good") { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(
            ScriptedSource { _ in ["page", "gone", "good"].map { PosterCandidate(.http(url: "http://127.0.0.1/\($0)")) } })
        // When the poster is requested
        let answer = try await pipeline.image(for: ImageRequest(title, Transform()))
        // Then it is the third
        XCTAssertEqual(answer.entry.body, picture)
        XCTAssertEqual(answer.entry.provenance.location, "http://127.0.0.1/good")
    }

    func testThatWhenNoneIsGoodTheBestOnesFaultIsTold() async throws {
        // Given two bad candidates
        transport.on("http://127.0.0.1/page", "<html>")
        transport.on("http://127.0.0.1/gone", status: 404, "")
        let pipeline = try pipeline(
            ScriptedSource { _ in ["page", "gone"].map { PosterCandidate(.http(url: "http://127.0.0.1/\($0)")) } })
        // When the poster is requested
        let error = await failure(pipeline, request(width: 40))
        // Then the error is that of the first
        XCTAssertEqual(error, .render(.foreignFormat(.html)))
    }

    func testThatAStalePosterIsSoughtAnewAfterItsSourcesConfigurationHasChanged() async throws {
        // Given a poster in the cache whose place a changed configuration has moved, while the old place still has it
        let (old, new) = (try Pipeline.picture(), try Pipeline.picture(shade: 40))
        for (path, picture) in [("old", old), ("new", new)] {
            transport.on("http://127.0.0.1/\(path)") { _ in
                HTTPAnswer(status: 200, headers: ["cache-control": "max-age=10"], body: picture)
            }
        }
        let place = Mutex("old")
        let changes = SourceConfigurationChanges()
        let source = ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/\(place.withLock { $0 })"))] }
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: clock, pool: RenderPool(workers: 2, queue: 8), changes: changes, case: self)
        _ = try await pipeline.image(for: ImageRequest(title, Transform()))
        clock.advance(by: .seconds(1))
        place.withLock { $0 = "new" }
        changes.note("films", at: clock.now)
        _ = try await pipeline.cache.purge([.tag(.answers(of: "films"))])
        // When it is requested while it is fresh, and when it is stale
        let fresh = try await pipeline.image(for: ImageRequest(title, Transform()))
        clock.advance(by: .seconds(100))
        let stale = try await pipeline.image(for: ImageRequest(title, Transform()))
        // Then the source is asked again once it is stale
        XCTAssertEqual(fresh.entry.provenance.location, "http://127.0.0.1/old")
        XCTAssertEqual(stale.entry.provenance.location, "http://127.0.0.1/new")
        XCTAssertEqual(stale.entry.body, new)
    }

    func testChangeThatWasRecordedInTheFutureCountsAsOneOfNow() {
        // Given a change that was recorded while the clock was a year ahead
        let (changes, now) = (SourceConfigurationChanges(), clock.now)
        changes.note("films", at: now.addingTimeInterval(365 * 86_400))
        // When it is asked about at the right time
        let old = changes.hasChanged("films", since: now.addingTimeInterval(-1), at: now)
        let new = changes.hasChanged("films", since: now.addingTimeInterval(1), at: now.addingTimeInterval(2))
        // Then only what is older than now is outdated
        XCTAssertEqual([old, new], [true, false])
    }

    func testThatATitleWithoutAPosterIsSaidSo() async throws {
        let pipeline = try pipeline(ScriptedSource { _ in [] })
        let error = await failure(pipeline, request(width: 40))
        XCTAssertEqual(error, .noImage(ImageReference(title)))
    }

    func testThatTheSourcesErrorsArriveWithItsName() async throws {
        let reasons: [SourceError] = [
            .notFound(id: "1"), .unauthorized(message: "key"), .quotaExhausted(until: 5), .unavailable(reason: "down"),
            .failed(reason: "down", details: "why"),
            .malformedAnswer(reason: "?"), .unsupported("posters"),
        ]
        for reason in reasons {
            let pipeline = try pipeline(ScriptedSource { _ throws(SourceError) in throw reason })
            let error = await failure(pipeline, request(width: 40))
            XCTAssertEqual(error, .source("films", reason))
        }
    }

    func testThatAnUnknownSourceIsSaidSo() async throws {
        let pipeline = try pipeline(ScriptedSource())
        let error = await failure(pipeline, ImageRequest(TitleReference(source: "film", id: "1"), Transform()))
        XCTAssertEqual(error, .unknownSource("film", known: ["films"]))
    }

    func testThatAFailureIsForgottenAfterSeconds() async throws {
        // Given an origin that fails once
        let picture = try jpeg()
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        transport.failNext(.timedOut(url: "http://127.0.0.1/1.jpg"))
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        // When it is requested again
        let error = await failure(pipeline, request(width: 40))
        clock.advance(by: .seconds(3))
        let answer = try await pipeline.image(for: request(width: 40))
        // Then it responds
        XCTAssertEqual(error, .origin(.timedOut(url: "http://127.0.0.1/1.jpg")))
        XCTAssertEqual(answer.origin, .made)
    }

    func testThatAnEmptyAnswerIsTheOriginsFaultAndSoonForgotten() async throws {
        // Given an origin with one empty response
        let (picture, calls) = (try jpeg(), CallNumber())
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: calls.next() == 1 ? ByteBuffer() : picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        // When it is requested
        let error = await failure(pipeline, request(width: 40))
        // Then the picture does not count as damaged
        XCTAssertEqual(error, .origin(.failed(url: "http://127.0.0.1/1.jpg", reason: "the answer is empty")))
        // And two seconds later it is requested again
        clock.advance(by: .seconds(2))
        let answer = try await pipeline.image(for: request(width: 40))
        XCTAssertEqual(answer.origin, .made)
    }

    func testThatAnOriginsWordToComeBackLaterIsPassedOn() async throws {
        for status in [429, 503] {
            // Given an origin that sends `Retry-After`
            transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: status, headers: ["retry-after": "120"]) }
            let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
            // When it is requested
            let error = await failure(pipeline, request(width: 40))
            // Then the error has that time
            XCTAssertEqual(error, .origin(.unavailable(url: "http://127.0.0.1/1.jpg", retryAfter: 120)))
        }
    }

    func testThatAHeldOriginalNeedsNoNetwork() async throws {
        // Given a source with local bytes
        let picture = try jpeg()
        let pipeline = try pipeline(
            ScriptedSource { _ in [PosterCandidate(.local(name: "drawn") { () throws(SourceError) in picture })] })
        // When the original is requested
        let answer = try await pipeline.image(for: ImageRequest(title, Transform()))
        // Then it has these bytes
        XCTAssertEqual(answer.entry.body, picture)
        XCTAssertEqual(transport.count(), 0)
    }

    func testThatAFullQueueAnswersAtOnce() async throws {
        // Given one busy worker and no queue
        let picture = try jpeg()
        let pool = RenderPool(workers: 1, queue: 0)
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] }, pool: pool)
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        let (busy, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let job = Task {
            try await pool.run { () throws(Failure) in
                busy.signal()
                release.wait()
            }
        }
        await withCheckedContinuation { started in
            DispatchQueue.global().async {
                busy.wait()
                started.resume()
            }
        }
        // When an image is requested
        let error = await failure(pipeline, request(width: 40))
        // Then it is refused before anything is fetched
        XCTAssertEqual(error, .overloaded(retryAfter: 1))
        XCTAssertEqual(transport.count(), 0)
        // And an identity transform is served, and the running job is not affected
        let original = try await pipeline.image(for: request(width: 0))
        XCTAssertEqual(original.entry.body, picture)
        release.signal()
        try await job.value
    }

    func testThatSeveralVariantsAreMadeOfOneFetch() async throws {
        // Given a poster
        let picture = try jpeg()
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        // When a ladder is made, including the original
        let sizes = [40, 0, 20]
        let answers = try await pipeline.images(for: sizes.map { request(width: $0) })
        // Then each is correct, and later requests find it
        XCTAssertEqual(answers.map { $0.entry.presentation.width }, [40, 60, 20])
        XCTAssertEqual(answers[1].entry.body, picture)
        let answer = try await pipeline.image(for: request(width: 20))
        XCTAssertEqual(answer.origin, .memory)
        XCTAssertEqual(transport.count(), 1)
    }

    func testThatAnImageThatATierHasIsNotMadeAgainWithTheOthers() async throws {
        // Given one size in the cache
        let picture = try jpeg()
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        _ = try await pipeline.image(for: request(width: 40))
        // When it is requested together with another, which is named twice
        let answers = try await pipeline.images(for: [20, 40, 20].map { request(width: $0) })
        // Then the answers are in order, and only the other one is made, once
        XCTAssertEqual(answers.map { $0.entry.presentation.width }, [20, 40, 20])
        XCTAssertEqual(answers.map(\.origin), [.made, .memory, .made])
        XCTAssertEqual(pipeline.metrics.counts.renders, 2)
    }

    func testThatNothingIsLookedUpForRequestsThatNoTierHas() async throws {
        // Given an image in the memory tier
        let picture = try jpeg()
        transport.on("http://127.0.0.1/1.jpg") { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        _ = try await pipeline.image(for: request(width: 40))
        let lookUps = await pipeline.cache.memory.statistics().total
        // When another size is requested after a lookup that found nothing
        let answer = try await pipeline.image(for: request(width: 50), after: .absent)
        // Then it is made from the stored original: one lookup
        XCTAssertEqual(answer.origin, .made)
        let now = await pipeline.cache.memory.statistics().total
        XCTAssertEqual(now.hits + now.misses - lookUps.hits - lookUps.misses, 1 + Self.factLookUps)
    }

    /// Of the facts about the poster, which a new variant notes.
    private static let factLookUps = 1

    func testThatAVisitorAndAPrefetchNeverMakeTheSameVariantTwice() async throws {
        // Given an origin that delays its response
        let (gate, picture) = (Gate(), try jpeg())
        transport.hold("http://127.0.0.1/1.jpg", at: gate) { _ in HTTPAnswer(status: 200, body: picture) }
        let pipeline = try pipeline(ScriptedSource { _ in [PosterCandidate(.http(url: "http://127.0.0.1/1.jpg"))] })
        // When a prefetch and a visitor request one common size and another one each, before either is rendered
        let (prefetched, asked) = ([20, 40].map { request(width: $0) }, [40, 50].map { request(width: $0) })
        async let ahead = WorkContext.with({ $0.urgency = .prefetch }) { try await pipeline.images(for: prefetched) }
        async let visitor = pipeline.images(for: asked)
        await gate.hasBeenReached(by: 2)
        gate.open()
        let answers = try await (ahead, visitor)
        // Then three variants are made, and both get the common one
        XCTAssertEqual(answers.0.map { $0.entry.presentation.width }, [20, 40])
        XCTAssertEqual(answers.1.map { $0.entry.presentation.width }, [40, 50])
        XCTAssertEqual(answers.0[1].entry, answers.1[0].entry)
        XCTAssertEqual(pipeline.metrics.counts.renders, 3)
    }

    private func request(width: Int) -> ImageRequest {
        var transform = Transform()
        transform.width = width
        return ImageRequest(title, transform)
    }

    private func failure(_ pipeline: Pipeline, _ request: ImageRequest) async -> Failure? {
        do throws(Failure) {
            _ = try await pipeline.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    private func pipeline(_ source: ScriptedSource, pool: RenderPool = RenderPool(workers: 2, queue: 8)) throws -> Pipeline {
        try .forTesting(source, transport: transport, clock: clock, pool: pool, case: self)
    }

    private func jpeg() throws -> ByteBuffer { try Pipeline.picture() }
}

extension Pipeline {
    /// A pipeline with a memory tier, the real codecs, and one source called `films`.
    static func forTesting(
        _ source: any ContentSource, transport: FakeTransport, clock: ManualClock, pool: RenderPool, choices: PosterChoices? = nil,
        codecs: [any Codec] = [], engine: (any PictureEngine)? = nil, background: BackgroundTasks = BackgroundTasks(),
        changes: SourceConfigurationChanges = SourceConfigurationChanges(),
        case test: XCTestCase
    ) throws -> Pipeline {
        let choices = try choices ?? PosterChoices(StateStore())
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let cache = Cache(memory: MemoryTier(expires: .never, clock: clock.wallClock), logger: logger)
        let engine = engine ?? Renderer(codecs: [JPEGCodec(), PNGCodec()] + codecs, limits: Limits())
        let originals = Originals(
            catalog: Catalog(
                sources: ["films": source], cache: cache, counting: pool.memory, clock: clock.wallClock, logger: logger),
            transport: transport,
            cache: cache, engine: engine, pool: pool, choices: choices, changes: changes, clock: clock.wallClock,
            logger: logger)
        test.addTeardownBlock {
            await background.shutdown()
            _ = await withTimeoutIgnoringCancellation(.seconds(10)) { await pool.shutdown() }
        }
        return Pipeline(
            cache: cache, engine: engine, pool: pool, originals: originals, background: background, clock: clock.wallClock)
    }

    /// A small JPEG; another `shade` gives another picture.
    static func picture(shade: Int = 0) throws -> ByteBuffer {
        var pixels = try PixelBuffer(PixelLayout(width: 60, height: 90, model: .rgb), limits: Limits())
        for y in 0..<90 {
            pixels.withMutableRow(y) { row in
                for x in 0..<180 { row[x] = UInt8((x * 3 + y + shade) & 0xFF) }
            }
        }
        return try JPEGCodec().encode(pixels, EncodeOptions())
    }
}

private final class CallNumber: Sendable {
    private let number = Mutex(0)
    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}
