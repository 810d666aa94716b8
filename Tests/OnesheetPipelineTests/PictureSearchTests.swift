import JPEGCodec
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import Synchronization
import XCTest

@testable import OnesheetPipeline

final class PictureSearchTests: XCTestCase {
    private let transport = FakeTransport()
    private let title = TitleReference(source: "films", id: "1")
    private let engine = FailingEngine()

    func testThatItFailsIfItCannotLook() async throws {
        // Given a title in the cache, and no process that could look at it
        let (pipeline, picture) = try await pipelineAndPicture()
        for failure in [RenderError.noProcess(retryAfter: 1), .lost(.killed)] {
            engine.failure = failure
            // When the titles that show its picture are purged
            do {
                _ = try await PictureSearch(pipeline: pipeline).purge([picture])
                XCTFail("\(failure) is taken for a picture that does not match")
            } catch {
                // Then that fails
                XCTAssertEqual(error as? Failure, .render(failure))
            }
        }
        // And once there is a process again, it succeeds
        engine.failure = nil
        _ = try await PictureSearch(pipeline: pipeline).purge([picture])
        let request = ImageRequest(title, Transform())
        let isPresent = await pipeline.cache.contains(request.key)
        XCTAssertFalse(isPresent)
    }

    func testThatAPictureThatCannotBeReadDoesNotMatch() async throws {
        // Given a title in the cache whose original cannot be decoded
        let (pipeline, picture) = try await pipelineAndPicture()
        engine.failure = .codec(.damaged(reason: "test"), .jpeg)
        // When the titles that show a picture are purged, then that one stays
        _ = try await PictureSearch(pipeline: pipeline).purge([picture])
        let isPresent = await pipeline.cache.contains(ImageRequest(title, Transform()).key)
        XCTAssertTrue(isPresent)
    }

    func testThatAVariantWithoutItsOriginalIsFound() async throws {
        // Given a title without a cached original, and another title with another picture
        let (pipeline, picture) = try await pipelineAndPicture()
        let other = ImageRequest(TitleReference(source: "films", id: "2#2"), Transform())
        let otherPicture = try Pipeline.picture(shade: 120)
        transport.on("http://127.0.0.1/2") { _ in HTTPAnswer(status: 200, body: otherPicture) }
        _ = try await pipeline.image(for: other)
        try await pipeline.cache.remove(ImageRequest.originalKey(ImageReference(title)))
        let hashed = engine.hashed
        // When the titles that show its picture are purged
        _ = try await PictureSearch(pipeline: pipeline).purge([picture])
        // Then nothing was looked at but that variant and the other original
        XCTAssertEqual(engine.hashed - hashed, 2)
        // And that is the only one that is purged
        let isPresent = await pipeline.cache.contains(ImageRequest(title, Transform()).key)
        let isOtherPresent = await pipeline.cache.contains(other.key)
        XCTAssertFalse(isPresent)
        XCTAssertTrue(isOtherPresent)
    }

    private func pipelineAndPicture() async throws -> (Pipeline, PerceptualHash) {
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/1") { _ in HTTPAnswer(status: 200, body: picture) }
        let source = ScriptedSource { id in [PosterCandidate(.http(url: "http://127.0.0.1/\(id.prefix(1))"))] }
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: ManualClock(), pool: RenderPool(workers: 1, queue: 8), engine: engine, case: self)
        let request = ImageRequest(title, Transform())
        let entry = try await pipeline.image(for: request).entry
        let isPresent = await pipeline.cache.contains(request.key)
        XCTAssertTrue(isPresent)
        let file = PictureFile(entry)
        let cost = try engine.renderer.costOfHash(of: engine.renderer.outline(of: file))
        return (pipeline, try engine.renderer.hash(of: file, predicted: cost))
    }
}

/// A renderer that cannot hash pictures while it has a failure.
private final class FailingEngine: PictureEngine {
    let renderer = Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits())
    private let state = Mutex<RenderError?>(nil)
    private let count = Mutex(0)
    /// The number of pictures that were looked at.
    var hashed: Int { count.withLock { $0 } }

    var failure: RenderError? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    var formats: [ImageFormat] { renderer.formats }
    let isReady = true
    let processes = 0
    let copiesFiles = false

    func outline(of file: PictureFile) throws(RenderError) -> PictureOutline { try renderer.outline(of: file) }

    func cost(of outline: PictureOutline, as transforms: [Transform]) throws(RenderError) -> RenderCost {
        try renderer.cost(of: outline, as: transforms)
    }

    func render(
        _ file: PictureFile, as transforms: [Transform], predicted cost: RenderCost
    ) throws(RenderError) -> [RenderedImage] { try renderer.render(file, as: transforms, predicted: cost) }

    func costOfHash(of outline: PictureOutline) throws(RenderError) -> RenderCost { try renderer.costOfHash(of: outline) }

    func hash(of file: PictureFile, predicted cost: RenderCost) throws(RenderError) -> PerceptualHash {
        if let failure { throw failure }
        count.withLock { $0 += 1 }
        return try renderer.hash(of: file, predicted: cost)
    }

    func warmUp() {}
    func shutdown() {}
}
