import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

final class PrefetchTests: XCTestCase {
    private let transport = FakeTransport()
    private let titles = (1...6).map { TitleReference(source: "films", id: "\($0)") }

    func testThatEverySizeOfEveryTitleIsMade() async throws {
        // Given six titles
        let pipeline = try pipeline()
        // When two sizes are prefetched
        let summary = try await Prefetcher(pipeline: pipeline, concurrency: 2).run(films: titles, sizes(20, 40)) { _ in }
        // Then twelve variants exist
        XCTAssertEqual([summary.total, summary.made, summary.skipped, summary.failed], [12, 12, 0, 0])
        let answer = try await pipeline.image(for: ImageRequest(titles[5], sizes(40)[0]))
        XCTAssertEqual(answer.origin, .memory)
    }

    func testPrefetchWaitsForAServiceThatLimitsTheRate() async throws {
        // Given a service that answers two calls and asks for a pause of seven seconds
        let calls = Mutex(0)
        let pauses = Mutex([Duration]())
        let body = try Pipeline.picture()
        transport.on("http://127.0.0.1/") { _ in HTTPAnswer(status: 200, body: body) }
        let source = ScriptedSource { id throws(SourceError) in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call == 3 { throw .rateLimited(retryAfter: 7) }
            return [PosterCandidate(.http(url: "http://127.0.0.1/\(id)"))]
        }
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: ManualClock(), pool: RenderPool(workers: 2, queue: 8), case: self)
        let patience = Patience { pause in
            pauses.withLock { $0.append(pause) }
            return true
        }
        // When six titles are prefetched
        let summary = try await Prefetcher(pipeline: pipeline, concurrency: 1, patience: patience)
            .run(films: titles, sizes(20)) { _ in }
        // Then it waits as long as the service says, and none fails
        XCTAssertEqual([summary.made, summary.failed], [6, 0])
        XCTAssertEqual(pauses.withLock { $0 }, [.seconds(7)])
    }

    func testLongPausesFailUnderOneReason() async throws {
        // Given a service that asks for a pause of hours, which becomes shorter
        let seconds = Mutex(10_000)
        let source = ScriptedSource { _ throws(SourceError) in
            throw .rateLimited(
                retryAfter: seconds.withLock { seconds in
                    seconds -= 1
                    return seconds
                })
        }
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: ManualClock(), pool: RenderPool(workers: 2, queue: 8), case: self)
        // When titles are prefetched
        let summary = try await Prefetcher(pipeline: pipeline, concurrency: 1).run(films: titles, sizes(20)) { _ in }
        // Then all fail at once, for one reason
        XCTAssertEqual(summary.titlesByReason.map(\.reason), ["source films: the service limits the rate of calls"])
        XCTAssertEqual(summary.titlesByReason.first?.titles, titles.map(\.description))
    }

    func testThatWhatIsThereIsSkipped() async throws {
        // Given a partial prefetch
        let pipeline = try pipeline()
        _ = try await Prefetcher(pipeline: pipeline, concurrency: 2).run(films: Array(titles[..<2]), sizes(20)) { _ in }
        // When a larger one is started
        let summary = try await Prefetcher(pipeline: pipeline, concurrency: 2).run(films: titles, sizes(20)) { _ in }
        // Then only the rest is made, and no original twice
        XCTAssertEqual([summary.made, summary.skipped], [4, 2])
        XCTAssertEqual(transport.count(), 6)
    }

    func testThatTheEndOfAQuotaForPrefetchingIsNotTheEndForPeople() async throws {
        // Given a service with calls left for interactive requests only
        let body = try Pipeline.picture()
        let gate = Gate()
        transport.hold("http://127.0.0.1/", at: gate) { _ in HTTPAnswer(status: 200, body: body) }
        let source = ScriptedSource { id throws(SourceError) in
            if Urgency.current == .prefetch, id == "1" { throw .quotaExhausted(until: nil) }
            return [PosterCandidate(.http(url: "http://127.0.0.1/\(id)"))]
        }
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: ManualClock(), pool: RenderPool(workers: 2, queue: 8), case: self)
        let (sizes, titles) = (sizes(20), titles)
        // When titles are prefetched, which fails, and a visitor requests two of them meanwhile
        async let prefetched = Prefetcher(pipeline: pipeline, concurrency: 1).run(films: Array(titles[..<2]), sizes) { _ in }
        await gate.hasBeenReached()
        async let first = pipeline.image(for: ImageRequest(titles[0], sizes[0]))
        async let second = pipeline.image(for: ImageRequest(titles[1], sizes[0]))
        // Then the visitor neither waits for the prefetch nor shares its failure
        await gate.hasBeenReached(by: 3)
        gate.open()
        let origins = try await [first.origin, second.origin]
        let summary = try await prefetched
        XCTAssertEqual(origins, [.made, .made])
        XCTAssertEqual(summary.failures.map(\.reason), ["source films: the service's quota is exhausted"])
    }

    func testThatEverythingRunsAtPrefetchUrgency() async throws {
        // Given a source that records the urgency of calls
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/") { _ in HTTPAnswer(status: 200, body: picture) }
        let source = UrgencyRecorder()
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: ManualClock(), pool: RenderPool(workers: 2, queue: 8), case: self)
        let prefetcher = Prefetcher(pipeline: pipeline, concurrency: 1)
        // When lists are read, and images are made one by one and together
        let listed = try await prefetcher.titles(.init(source: "films"))
        let lists = try await prefetcher.lists(.init(source: "films", dates: [CalendarDay("2026-01-01")].compactMap(\.self)))
        _ = try await prefetcher.images(of: listed.references[0], from: listed.source, as: sizes(20))
        let summary = try await prefetcher.run(films: Array(listed.references[1...]), sizes(20)) { _ in }
        // Then no call uses the reserve
        XCTAssertEqual(source.calls.withLock { $0 }, ["titles", "titles", "candidates 1", "candidates 2"])
        XCTAssertEqual(source.urgencies.withLock { $0 }, [.prefetch])
        XCTAssertEqual(lists.map { $0.titles.map(\.id) }, [["1", "2"]])
        XCTAssertEqual(summary.made, 1)
    }

    func testThatEachTitleIsNamedOnceAndAnUnknownSourceIsAnError() async throws {
        let prefetcher = Prefetcher(pipeline: try pipeline(), concurrency: 1)
        let titles = try await prefetcher.titles(.init(source: "films", ids: ["2", "1", "2"]))
        XCTAssertEqual(titles.references.map(\.id), ["2", "1"])
        do throws(Failure) {
            _ = try await prefetcher.titles(.init(source: "film", ids: ["1"]))
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual(error, .unknownSource("film", known: ["films"]))
        }
    }

    func testThatAllIDsAreCanonicalAlsoThoseOfLists() async throws {
        // Given a source that lists one title in two spellings
        let pipeline = try Pipeline.forTesting(
            LowercasedSource(), transport: transport, clock: ManualClock(), pool: RenderPool(workers: 1, queue: 8), case: self)
        let prefetcher = Prefetcher(pipeline: pipeline, concurrency: 1)
        // When its titles are named, and listed for a prefetch and for a bundle
        let named = try await prefetcher.titles(.init(source: "films", ids: ["B", "b"]))
        let listed = try await prefetcher.titles(.init(source: "films"))
        let lists = try await prefetcher.lists(.init(source: "films"))
        // Then there is one spelling
        XCTAssertEqual(named.references.map(\.id), ["b"])
        XCTAssertEqual(listed.references.map(\.id), ["a"])
        XCTAssertEqual(lists.map { $0.titles.map(\.id) }, [["a", "a"]])
    }

    func testThatATitleThatFailsDoesNotStopTheOthers() async throws {
        // Given a title without a poster
        let pipeline = try pipeline()
        transport.on("http://127.0.0.1/3", status: 404, "")
        // When all are prefetched
        let summary = try await Prefetcher(pipeline: pipeline, concurrency: 2).run(films: titles, sizes(20, 40)) { _ in }
        // Then the summary has it, with the reason
        XCTAssertEqual([summary.made, summary.failed], [10, 2])
        XCTAssertEqual(
            summary.failures,
            [.init(title: "films://3", variants: 2, reason: "the origin of the image answers 404: http://127.0.0.1/3")])
    }

    func testThatNoMoreTitlesAreWorkedOnAtOnceThanAllowed() async throws {
        // Given origins that delay their responses
        let (gate, picture) = (Gate(), try Pipeline.picture())
        let pipeline = try pipeline()
        transport.hold("http://127.0.0.1/", at: gate) { _ in HTTPAnswer(status: 200, body: picture) }
        // When six titles are prefetched two at a time
        let (titles, sizes) = (titles, sizes(20))
        let work = Task { try await Prefetcher(pipeline: pipeline, concurrency: 2).run(films: titles, sizes) { _ in } }
        await gate.hasBeenReached(by: 2)
        let atOnce = transport.count()
        gate.open()
        let summary = try await work.value
        // Then two were requested while responses were delayed
        XCTAssertEqual(atOnce, 2)
        XCTAssertEqual(summary.made, 6)
    }

    func testThatACancelledPrefetchEndsWithWhatItHas() async throws {
        // Given origins that delay their responses
        let gate = Gate()
        let pipeline = try pipeline()
        transport.hold("http://127.0.0.1/", at: gate) { _ in HTTPAnswer(status: 404) }
        let (titles, sizes) = (titles, sizes(20))
        let work = Task { try await Prefetcher(pipeline: pipeline, concurrency: 2).run(films: titles, sizes) { _ in } }
        await gate.hasBeenReached(by: 2)
        // When it is cancelled
        work.cancel()
        let summary = try await work.value
        // Then nothing counts as failed, and the rest was not tried
        XCTAssertEqual([summary.made, summary.failed, summary.done], [0, 0, 0])
        XCTAssertEqual(transport.count(), 2)
    }

    func testThatProgressCountsUpToTheEnd() async throws {
        // Given six titles
        let pipeline = try pipeline()
        let seen = Mutex<[Int]>([])
        // When they are prefetched
        _ = try await Prefetcher(pipeline: pipeline, concurrency: 3).run(films: titles, sizes(20)) { summary in
            seen.withLock { $0.append(summary.done) }
        }
        // Then each was reported
        XCTAssertEqual(seen.withLock { $0 }, [1, 2, 3, 4, 5, 6])
    }

    func testEachIDHasAState() async throws {
        // Given a title whose variant is there, one that is new, and one that the source does not have
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/") { _ in HTTPAnswer(status: 200, body: picture) }
        let source = ScriptedSource { id throws(SourceError) in
            if id == "9" { throw .notFound(id: id) }
            return [PosterCandidate(.http(url: "http://127.0.0.1/\(id)"))]
        }
        let pipeline = try Pipeline.forTesting(
            source, transport: transport, clock: ManualClock(), pool: RenderPool(workers: 2, queue: 8), case: self)
        let prefetcher = Prefetcher(pipeline: pipeline, concurrency: 3)
        _ = try await prefetcher.run(films: [titles[1]], sizes(20)) { _ in }
        // When their ids are prefetched, one of them twice
        let progress = Mutex([PrefetchSummary]())
        let summary = try await prefetcher.run(
            films: ["9", "2", "1", "2"].map { TitleReference(source: "films", id: $0) }, sizes(20)
        ) { summary in progress.withLock { $0.append(summary) } }
        // Then the summary says what became of each, in their order
        XCTAssertEqual(
            summary.titles,
            [
                .init(title: "films://9", state: .failed), .init(title: "films://2", state: .known),
                .init(title: "films://1", state: .new),
            ])
        // And reports of the progress do not
        XCTAssertTrue(progress.withLock { $0.allSatisfy { $0.titles == nil } })
        XCTAssertNil(summary.withLastFailures().titles)
    }

    func testEachTitleOfANamedListHasAState() async throws {
        let prefetcher = Prefetcher(pipeline: try pipeline(), concurrency: 1)
        for state in [PrefetchSummary.Outcome.State.new, .known] {
            let titles = try await prefetcher.titles(.init(source: "films", list: "top"))
            let summary = await prefetcher.run(titles, sizes(20).map { ImageVariant(.poster, $0) }) { _ in }
            XCTAssertEqual(summary.titles, [.init(title: "films://1", state: state)])
        }
    }

    private func pipeline() throws -> Pipeline {
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/") { _ in HTTPAnswer(status: 200, body: picture) }
        let source = ScriptedSource { id in [PosterCandidate(.http(url: "http://127.0.0.1/\(id)"))] }
        return try .forTesting(
            source, transport: transport, clock: ManualClock(), pool: RenderPool(workers: 2, queue: 8), case: self)
    }

    private func sizes(_ widths: Int...) -> [Transform] {
        widths.map { width in
            var transform = Transform()
            transform.width = width
            return transform
        }
    }
}

extension Prefetcher {
    /// Runs an order of these titles of the source `films`.
    func run(
        films titles: [TitleReference], _ transforms: [Transform], progress: @escaping @Sendable (PrefetchSummary) -> Void
    ) async throws -> PrefetchSummary {
        await run(
            try await self.titles(.init(source: "films", ids: titles.map(\.id))), transforms.map { ImageVariant(.poster, $0) },
            progress: progress)
    }
}

/// Records the urgency of calls.
private final class UrgencyRecorder: ContentSource {
    let originPolicy = OriginPolicy(networks: [.loopback])
    let calls = Mutex<[String]>([])
    let urgencies = Mutex<Set<Urgency>>([])

    private func note(_ call: String) {
        calls.withLock { $0.append(call) }
        urgencies.withLock { _ = $0.insert(Urgency.current) }
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        note("titles")
        return TitlePage(titles: ["1", "2"].map { Title(id: $0, name: $0) })
    }

    func title(_ id: String) async throws(SourceError) -> Title {
        note("title \(id)")
        return Title(id: id, name: id)
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        note("candidates \(id)")
        return [PosterCandidate(.http(url: "http://127.0.0.1/\(id)"))]
    }
}

/// A source without a difference between upper and lower case.
private struct LowercasedSource: ContentSource {
    let originPolicy = OriginPolicy()

    func canonicalID(_ id: String) -> String { id.lowercased() }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        TitlePage(titles: ["A", "a"].map { Title(id: $0, name: $0) })
    }

    func title(_ id: String) async throws(SourceError) -> Title { Title(id: id, name: id) }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
}
