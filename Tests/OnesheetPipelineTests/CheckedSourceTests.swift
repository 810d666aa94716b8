import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// What a hostile source's answers become before anybody works with them.
final class CheckedSourceTests: XCTestCase {
    /// Answers pages as a test says.
    private final class Pages: ContentSource {
        let originPolicy = OriginPolicy()
        private let asked = Mutex(0)
        let page: @Sendable (Int) throws(SourceError) -> TitlePage

        init(_ page: @escaping @Sendable (Int) throws(SourceError) -> TitlePage) { self.page = page }

        var calls: Int { asked.withLock { $0 } }

        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
            asked.withLock { $0 += 1 }
            return try page(query.page)
        }
        func title(_ id: String) async throws(SourceError) -> Title { throw .quotaExhausted(until: 1e300) }
        func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
            Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("\($0)", "Drama") })
        }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
            [PosterCandidate(.http(url: "http://a.example/"), width: .max, height: .max, trust: .nan)]
        }
    }

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func listing(_ source: any ContentSource, counting budget: MemoryBudget = MemoryBudget(limit: 1 << 30)) throws
        -> TitleListing
    {
        let clock = ManualClock()
        let watched = WatchedSource(source, watch: SourceWatch(of: "films", clock: clock.wallClock, logger: logger))
        let cache = Cache(memory: MemoryTier(clock: clock.wallClock), logger: logger)
        return try TitleListing(
            of: "films", from: watched,
            in: Catalog(
                sources: ["films": watched], cache: cache, counting: MemoryBudget(limit: 64 << 20), clock: clock.wallClock,
                logger: logger), counting: budget)
    }

    private static func title(_ number: Int) -> Title { Title(id: "\(number)", name: "One") }

    func testTooManyGenresAreNoAnswer() async {
        let source = CheckedSource(source: Pages { _ throws(SourceError) in TitlePage(titles: []) })
        do throws(SourceError) {
            _ = try await source.genres(in: nil)
            XCTFail("nothing was thrown")
        } catch {
            guard case .malformedAnswer = error else { return XCTFail("\(error)") }
        }
    }

    func testThatTheSourceItselfIsGivenAParsedURL() throws {
        let watched = WatchedSource(Numbering(), watch: SourceWatch(of: "films", clock: ManualClock().wallClock, logger: logger))
        XCTAssertEqual(watched.canonicalID(of: try XCTUnwrap(WebURL("https://a.example/posters/7"))), "of /posters/7")
        XCTAssertEqual(watched.canonicalID("https://a.example/posters/7"), "text")
        XCTAssertEqual(watched.canonicalID(ofObject: "7.jpg", in: "posters"), "7.jpg in posters")
    }

    private struct Numbering: ContentSource {
        let originPolicy = OriginPolicy()
        func canonicalID(_ id: String) -> String { "text" }
        func canonicalID(of url: WebURL) -> String { "of \(url.path)" }
        func canonicalID(ofObject name: String, in bucket: String) -> String? { "\(name) in \(bucket)" }
        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("titles") }
        func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
    }

    func testThatAListThatHasNoEndIsEnded() async throws {
        // Given sources that go on for ever, each in its way, and how many pages it takes to see it
        let table: [(String, Int, @Sendable (Int) -> TitlePage)] = [
            ("the same page next", 1, { TitlePage(titles: [Self.title($0)], next: 1) }),
            ("the page before", 2, { TitlePage(titles: [Self.title($0)], next: 3 - $0) }),
            ("a page of no number", 1, { _ in TitlePage(titles: [Self.title(1)], next: .min) }),
            ("a page beyond all", 1, { _ in TitlePage(titles: [Self.title(1)], next: .max) }),
            ("nothing new", 2, { TitlePage(titles: [Self.title(1)], next: $0 + 1) }),
            ("nothing at all", 1, { TitlePage(titles: [], next: $0 + 1) }),
        ]
        for (what, pages, page) in table {
            let source = Pages(page)
            var listing = try listing(source)
            // When all titles are asked for
            do throws(Failure) {
                _ = try await listing.ids(TitleQuery())
                XCTFail("\(what) ended by itself")
            } catch {
                // Then it is the source's fault, and soon
                XCTAssertEqual(error.title, "Source failed", "\(what): \(error)")
            }
            XCTAssertEqual(source.calls, pages, what)
        }
    }

    func testThatALongListHasItsEnd() async throws {
        // Given forty pages
        let source = Pages { TitlePage(titles: [Self.title($0), Self.title(-$0)], total: 80, next: $0 < 40 ? $0 + 1 : nil) }
        var listing = try listing(source)
        // When
        let ids = try await listing.ids(TitleQuery())
        let titles = try await listing.titles(TitleQuery(phrase: "x"))
        // Then
        XCTAssertEqual(ids.count, 80)
        XCTAssertEqual(titles.map(\.id), ids)
    }

    func testRefusedPageDoesNotTakeTheOthersWithIt() async throws {
        // Given a list whose third page is refused, and one whose third page fails for now
        let outcomes: [SourceError] = [.malformedAnswer(reason: "pages end at 2"), .unavailable(reason: "busy")]
        for outcome in outcomes {
            let source = Pages { page throws(SourceError) in
                guard page < 3 else { throw outcome }
                return TitlePage(titles: [Self.title(page)], next: page + 1)
            }
            var listing = try listing(source)
            do throws(Failure) {
                // When it is read, then the first ends there and says what is missing
                let ids = try await listing.ids(TitleQuery())
                XCTAssertEqual(ids, ["1", "2"])
                XCTAssertEqual(listing.missing.map(\.title), ["films, pages from 3"])
                XCTAssertEqual(outcome, outcomes[0])
            } catch {
                // And the second fails, so that it is read again later
                XCTAssertEqual(error, .source("films", outcomes[1]))
                XCTAssertEqual(outcome, outcomes[1])
            }
        }
    }

    func testThatAListCountsAsLongAsItIsHeld() async throws {
        // Given memory for some pages, and a list whose length changes
        let budget = MemoryBudget(limit: 64 << 10)
        let pages = Mutex(20)
        let source = Pages { page in
            TitlePage(
                titles: (0..<12).map { Self.title(page * 100 + $0) }, next: page < pages.withLock { $0 } ? page + 1 : nil)
        }
        // When it fits
        var short: TitleListing? = try listing(source, counting: budget)
        let ids = try await short?.ids(TitleQuery())
        // Then its memory is reserved for as long as it is held
        XCTAssertGreaterThan(budget.reserved, 2 * 100 * (ids?.count ?? 0))
        short = nil
        XCTAssertEqual(budget.reserved, 0)
        // When it does not fit
        pages.withLock { $0 = 40 }
        var long: TitleListing? = try listing(source, counting: budget)
        do throws(Failure) {
            _ = try await long?.ids(TitleQuery())
            XCTFail("there was no memory for it")
        } catch {
            // Then it fails and holds nothing more
            XCTAssertEqual(error, .overloaded(retryAfter: 1))
        }
        long = nil
        XCTAssertEqual(budget.reserved, 0)
    }

    func testThatAllListsTogetherTakeOnlySoMuch() async throws {
        // Given pages of titles as heavy as they may be, each one new, without an end
        let text = String(repeating: "x", count: 60_000)
        let source = Pages { page in
            TitlePage(
                titles: (0..<8).map {
                    Title(id: "\(page)-\($0)", name: text, metadata: ["x": .array(Array(repeating: .string(text), count: 12))])
                },
                next: page + 1)
        }
        var listing = try listing(source)
        // When
        do throws(Failure) {
            _ = try await listing.titles(TitleQuery())
            XCTFail("a list without an end ended")
        } catch {
            // Then it ends with what is said of it
            XCTAssertTrue("\(error)".contains("bytes"), "\(error)")
        }
        XCTAssertLessThan(source.calls, 30)
    }

    func testThatTitlesThatOnlyLookTheSameAreTwo() async throws {
        let (one, other) = LookalikeTexts.pairs[1]
        let source = Pages { TitlePage(titles: [Title(id: $0 == 1 ? one : other, name: "One")], next: $0 == 1 ? 2 : nil) }
        var listing = try listing(source)
        let ids = try await listing.ids(TitleQuery())
        XCTAssertEqual(ids.map { Array($0.utf8) }, [one, other].map { Array($0.utf8) })
    }

    func testBadTitleLosesOnlyItself() async throws {
        // Given a list with a title whose text is too long
        let long = String(repeating: "x", count: 70_000)
        let missing = Mutex<[String]>([])
        let source = CheckedSource(
            source: Pages { page in
                TitlePage(titles: (page == 1 ? [Title(id: "1", name: "One")] : []) + [Title(id: "2", name: long)])
            }
        ) { damage in missing.withLock { $0 += damage } }
        // Then the other one is there, and the log is told
        let titles = try await source.titles(TitleQuery()).titles
        XCTAssertEqual(titles.map(\.id), ["1"])
        XCTAssertEqual(missing.withLock { $0 }.count, 1)
        // And a page without another one is malformed
        var query = TitleQuery()
        query.page = 2
        do throws(SourceError) {
            _ = try await source.titles(query)
            XCTFail("nothing was left of it")
        } catch {
            guard case .malformedAnswer = error else { return XCTFail("\(error)") }
        }
    }

    func testThatExtremeAnswersTrapNobody() async throws {
        // Given a source that says what no number can be
        let source = CheckedSource(
            source: Pages { _ in
                TitlePage(
                    titles: [Title(id: "1", name: "One", rank: .max, metadata: ["x": .number(.nan)])], total: .max, next: .max)
            })
        // Then what comes through can be used
        let page = try await source.titles(TitleQuery())
        XCTAssertEqual(page.titles[0].metadata, [:])
        do throws(SourceError) { _ = try await source.title("1") } catch { XCTAssertEqual(error, .quotaExhausted(until: nil)) }
        let candidates = try await source.candidates(for: "1")
        XCTAssertNil(candidates[0].width)
        XCTAssertEqual(candidates[0].trust, 0)
        var query = TitleQuery()
        query.page = .max
        do throws(SourceError) {
            _ = try await source.titles(query)
            XCTFail("there is such a page")
        } catch {
            guard case .malformedAnswer = error else { return XCTFail("\(error)") }
        }
    }

    func testThatFlightsAndFailuresAreEachTitlesOwn() async throws {
        let generation = CacheGeneration()
        for (one, other) in LookalikeTexts.pairs {
            let titles = [one, other].map { TitleReference(source: "films", id: $0) }
            // Given a failure of one
            let memory = FailureMemory(clock: ManualClock().wallClock)
            let keys = titles.map { ImageRequest.originalKey(ImageReference($0)) }
            memory.remember(.noImage(ImageReference(titles[0])), of: keys[0], at: generation)
            // Then the other has none
            XCTAssertThrowsError(try memory.check(keys[0], at: generation))
            XCTAssertNoThrow(try memory.check(keys[1], at: generation))
            // And given a flight for one that has not landed
            let gate = Gate()
            let flights = Coalescing<FlightKey<TitleReference>, String, Failure>(cancelled: .cancelled)
            async let first = flights.share(FlightKey(titles[0], at: generation)) { () async throws(Failure) in
                do { try await gate.pass() } catch { throw .cancelled }
                return "first"
            }
            await gate.hasBeenReached()
            // Then the other does not wait for it
            let second = try await flights.share(FlightKey(titles[1], at: generation)) { () async throws(Failure) in
                "second"
            }
            XCTAssertEqual(second, "second")
            gate.open()
            let landed = try await first
            XCTAssertEqual(landed, "first")
        }
    }

    func testThatACandidateIsPinnedAndRejectedByItsBytes() {
        // Given two candidates whose names look the same
        let (one, other) = LookalikeTexts.pairs[1]
        var choice = PosterChoice()
        choice.see(
            [one, other].map {
                RankedCandidate(candidate: PosterCandidate(.http(url: "http://a.example/\($0)"), trust: 1), reasons: [])
            })
        // When one is chosen and the other rejected
        choice.pin("http://a.example/\(one)")
        choice.decision.reject("http://a.example/\(other)")
        // Then both hold
        XCTAssertTrue(choice.isChosen("http://a.example/\(one)"))
        XCTAssertFalse(choice.isChosen("http://a.example/\(other)"))
        XCTAssertEqual(choice.candidates.count, 2)
        for number in [Int.min, -1, 0, 3, .max] { XCTAssertNil(choice.candidate(number)) }
    }
}
