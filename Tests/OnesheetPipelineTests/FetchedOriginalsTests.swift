import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// Images with the same URL.
final class FetchedOriginalsTests: XCTestCase {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let url = "http://127.0.0.1/poster.jpg"

    func testTwoTitlesWithOneURLCostOneFetch() async throws {
        // Given two titles with the same poster
        let pipeline = try pipeline()
        // When both are asked for
        let first = try await image("1", pipeline)
        let second = try await image("2", pipeline)
        // Then it is fetched once
        XCTAssertEqual(transport.count(url), 1)
        XCTAssertEqual(first.entry.body, second.entry.body)
        // And each is purged by itself
        XCTAssertEqual(second.entry.tags, ImageReference(TitleReference(source: "films", id: "2")).tags)
        _ = try await pipeline.cache.purge([.tag(.title(TitleReference(source: "films", id: "1")))])
        let isThere = await pipeline.cache.contains(original("2"))
        XCTAssertTrue(isThere)
    }

    func testPurgeAsksTheOriginAgain() async throws {
        // Given two titles with the same poster, of which one is purged
        let pipeline = try pipeline()
        for id in ["1", "2"] { _ = try await image(id, pipeline) }
        _ = try await pipeline.cache.purge([.tag(.title(TitleReference(source: "films", id: "1")))])
        // When it is asked for again, then its origin is too
        _ = try await image("1", pipeline)
        XCTAssertEqual(transport.count(url), 2)
    }

    func testStaleOriginalIsNotTakenForAnotherTitle() async throws {
        let pipeline = try pipeline()
        _ = try await image("1", pipeline)
        clock.advance(by: .seconds(61))
        _ = try await image("2", pipeline)
        XCTAssertEqual(transport.count(url), 2)
    }

    func testOriginalThatMayNotBeStoredIsFetchedForEachTitle() async throws {
        let pipeline = try pipeline(["cache-control": "no-store"])
        for id in ["1", "2"] { _ = try await image(id, pipeline) }
        XCTAssertEqual(transport.count(url), 2)
    }

    private func pipeline(_ headers: [String: String] = ["cache-control": "max-age=60"]) throws -> Pipeline {
        let picture = try Pipeline.picture()
        transport.on(url) { _ in HTTPAnswer(status: 200, headers: headers, body: picture) }
        let source = ScriptedSource { [url] _ in [PosterCandidate(.http(url: url))] }
        return try .forTesting(source, transport: transport, clock: clock, pool: RenderPool(workers: 1, queue: 8), case: self)
    }

    private func image(_ id: String, _ pipeline: Pipeline) async throws -> ImageAnswer {
        try await pipeline.image(for: ImageRequest(TitleReference(source: "films", id: id), Transform()))
    }

    private func original(_ id: String) -> CacheKey {
        ImageRequest.originalKey(ImageReference(TitleReference(source: "films", id: id)))
    }
}
