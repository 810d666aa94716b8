import JPEGCodec
import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// Images of a source that is made of others.
final class MemberImageTests: XCTestCase {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let title = TitleReference(source: "films", id: "1")
    private let source = MadeSource()

    override func setUpWithError() throws {
        for (index, name) in ["one", "other"].enumerated() {
            let body = try Pipeline.picture(shade: index * 90)
            transport.on("https://\(name).example/") { _ in
                HTTPAnswer(status: 200, headers: ["etag": "\"\(name)\"", "cache-control": "max-age=3600"], body: body)
            }
        }
    }

    func testImageIsFetchedByTheRulesOfItsMember() async throws {
        // Given
        let pipeline = try pipeline()

        // When it is made, and asked for again when it is stale
        let entry = try await pipeline.image(for: ImageRequest(title, Transform())).entry
        clock.advance(by: .seconds(3600 + 3600))
        _ = try await pipeline.image(for: ImageRequest(title, Transform()))

        // Then
        XCTAssertEqual(entry.provenance.source, "one://7")
        XCTAssertEqual(transport.policies.map(\.headers), [["X-Member": "one"], ["X-Member": "one"]])
    }

    func testPurgeOfAMembersTitleReachesTheImage() async throws {
        for tag in [CacheTag.title(TitleReference(source: "one", id: "7")), .source("one"), .title(title), .source("films")] {
            // Given
            let pipeline = try pipeline()
            _ = try await pipeline.image(for: ImageRequest(title, Transform()))

            // When
            _ = try await pipeline.cache.purge([.tag(tag)])

            // Then
            let isKept = await pipeline.cache.contains(ImageRequest.originalKey(ImageReference(title)))
            XCTAssertFalse(isKept, "\(tag)")
        }
    }

    func testImageOfAPartialAnswerIsKeptForFiveMinutes() async throws {
        // Given a member that could not be asked
        source.change { $0 = [.of("other", isProvisional: true)] }
        let pipeline = try pipeline()
        let before = try await pipeline.image(for: ImageRequest(title, Transform())).entry
        source.change { $0 = [.of("one"), .of("other")] }

        // When
        clock.advance(by: .seconds(299))
        let meanwhile = try await pipeline.image(for: ImageRequest(title, Transform())).entry
        clock.advance(by: .seconds(2))
        let after = try await pipeline.image(for: ImageRequest(title, Transform())).entry

        // Then
        XCTAssertEqual(before.provenance.source, "other://7")
        XCTAssertEqual(meanwhile.provenance.source, "other://7")
        XCTAssertEqual(after.provenance.source, "one://7")
    }

    func testImageOfAPartialAnswerNeedsNoTitle() async throws {
        // Given a member that could not be asked, whose title would say the original language
        var image = PosterCandidate.of("other", isProvisional: true)
        image.language = LanguageTag("ko")
        source.change { $0 = [image] }
        source.failTitles(.unavailable(reason: "down"))

        // When
        let selector = ImageSelector(.poster, in: try LanguageList("original.ko"))
        let entry = try await pipeline().image(for: ImageRequest(ImageReference(title, selector), Transform())).entry

        // Then
        XCTAssertEqual(entry.provenance.source, "other://7")

        // When the answer is whole, the choice would be another one with the language
        image.isProvisional = false
        source.change { $0 = [image] }
        do {
            _ = try await pipeline().image(for: ImageRequest(ImageReference(title, selector), Transform()))
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual(error as? Failure, .source("films", .unavailable(reason: "down")))
        }
    }

    func testImageOfAnotherMemberServesWhileTheHostOfOneIsDown() async throws {
        // Given many images at a host that is down
        transport.on("https://one.example/") { _ in HTTPAnswer(status: 503) }
        source.change { $0 = (0..<9).map { .of("one", "\($0)") } + [.of("other")] }

        // When
        let entry = try await pipeline().image(for: ImageRequest(title, Transform())).entry

        // Then
        XCTAssertEqual(entry.provenance.source, "other://7")
        XCTAssertEqual(transport.count(), 5)
    }

    func testPauseOfAMemberIsNotOneOfTheOthers() async throws {
        // Given a title that nothing but a member in a pause could know
        let watch = SourceWatch(
            of: "films", clock: clock.wallClock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let films = WatchedSource(source, watch: watch)
        source.failTitles(.rateLimited(retryAfter: 600))
        do throws(SourceError) {
            _ = try await films.title("1")
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual(error, .rateLimited(retryAfter: 600))
        }

        // When another title is asked for
        source.failTitles(nil)

        // Then the other members answer
        let title = try await films.title("2")
        XCTAssertEqual(title.name, "One")
    }

    func testExplanationNamesTheMemberAndTheMatch() async throws {
        // Given
        let pipeline = try pipeline()
        _ = try await pipeline.image(for: ImageRequest(title, Transform()))

        // When
        let explained = try await pipeline.explain(ImageRequest(title, Transform()))

        // Then
        XCTAssertEqual(explained.choice, ["number 1 of 2 by the rule", "an image of one://7", "same title: 1.0 of at least 0.7"])
    }

    func testMembersAreAskedForStatedIDsAtTheSameTime() async throws {
        // Given a source with two slow members
        let (gate, title, pipeline) = (Gate(), title, try pipeline())
        let catalog = Catalog(
            sources: ["films": SlowSource(gate)], cache: pipeline.cache, counting: pipeline.pool.memory,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let posters = Posters(catalog: catalog, pipeline: pipeline, choices: PosterChoices(try StateStore()))

        // When an id is stated for each
        let stating = Task { try await posters.match(title, as: ["one": "1", "other": "none", "last": "3"]) }

        // Then both are asked before one has answered
        await waitWhile(gate.arrived < 2)
        gate.open()
        let unchecked = try await stating.value
        XCTAssertEqual(unchecked, ["last"])
    }

    func testOnlyASourceWithMembersNamesThem() async throws {
        // Given a service that claims to be another
        let claiming = CheckedSource(source: ScriptedSource { _ in [.of("one")] })

        // When
        let candidates = try await claiming.candidates(for: "1")

        // Then
        XCTAssertEqual(candidates.map(\.source), [nil])
        XCTAssertEqual(candidates.map(\.match), [nil])
    }

    func testMembersComeInTheirOrderAndSearchesLast() {
        // Given equal images of members, of which one answers in any order, and the hit of a search
        var (a, b, c) = (PosterCandidate.of("two", "a"), PosterCandidate.of("one", "b"), PosterCandidate.of("two", "c"))
        (a.votes, b.votes, c.votes) = (5, 5, 5)
        var hit = PosterCandidate.of("search")
        (hit.trust, hit.votes) = (1, 10)

        for candidates in [[a, c, b, hit], [c, a, hit, b], [hit, c, a, b]] {
            // When
            let ranked = ImageRule(.poster, in: nil).ranked(candidates)

            // Then
            XCTAssertEqual(
                ranked.map(\.candidate.location.name),
                ["two.example/a", "two.example/c", "one.example/b", "search.example/1"].map { "https://\($0)" })
        }
    }

    private func pipeline() throws -> Pipeline {
        try .forTesting(source, transport: transport, clock: clock, pool: RenderPool(workers: 2, queue: 8), case: self)
    }
}

/// A source of two members, whose candidates a test provides.
private final class MadeSource: ContentSource {
    let originPolicy = OriginPolicy(allow: [], networks: [])
    let members = ["one", "other"].map { SourceMember($0, Member(originPolicy: OriginPolicy(headers: ["X-Member": $0]))) }
    private let list = Mutex<[PosterCandidate]>([.of("one"), .of("other")])

    private let titleFailure = Mutex<SourceError?>(nil)

    func failTitles(_ failure: SourceError?) { titleFailure.withLock { $0 = failure } }

    func change(_ body: (inout [PosterCandidate]) -> Void) { list.withLock { body(&$0) } }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { TitlePage(titles: []) }
    func title(_ id: String) async throws(SourceError) -> Title {
        if let failure = titleFailure.withLock({ $0 }) { throw failure }
        return Title(id: id, name: "One")
    }
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { list.withLock { $0 } }

    struct Member: ContentSource {
        let originPolicy: OriginPolicy
        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("a list") }
        func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { throw .notFound(id: id) }
    }
}

/// A source of four members that wait at a gate. The last one is down.
private struct SlowSource: ContentSource {
    let originPolicy = OriginPolicy(allow: [], networks: [])
    let members: [SourceMember]

    init(_ gate: Gate) {
        members = ["lead", "one", "other", "last"].map { SourceMember($0, Member(gate: gate, isDown: $0 == "last")) }
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { TitlePage(titles: []) }
    func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { throw .notFound(id: id) }

    struct Member: ContentSource {
        let originPolicy = OriginPolicy()
        let gate: Gate
        let isDown: Bool
        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("a list") }
        func title(_ id: String) async throws(SourceError) -> Title { Title(id: id, name: "One") }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
            do { try await gate.pass() } catch { throw .unavailable(reason: "cancelled") }
            if isDown { throw .unavailable(reason: "down") }
            return []
        }
    }
}

extension PosterCandidate {
    fileprivate static func of(_ member: String, _ name: String = "1", isProvisional: Bool = false) -> PosterCandidate {
        var candidate = PosterCandidate(.http(url: "https://\(member).example/\(name)"))
        (candidate.source, candidate.match) = ("\(member)://7", "same title: 1.0 of at least 0.7")
        candidate.isProvisional = isProvisional
        return candidate
    }
}
