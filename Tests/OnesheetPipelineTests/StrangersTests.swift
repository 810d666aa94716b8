import Logging
import OnesheetCache
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// The cost of made-up questions: the service counts calls.
final class StrangersTests: XCTestCase {
    private let clock = ManualClock()
    private let service = FakeTransport()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    override func setUp() { service.on("http://service.example/", "there is something") }

    func testThatTenThousandUnknownTitlesSpendNoMoreThanTheirShareAndKnownOnesAreFound() async throws {
        // Given a service with three thousand calls a day
        let catalog = catalog(perDay: 3000)
        // When a thousand unknown titles are requested at once, and nine thousand more over the day
        for number in 0..<1000 { _ = await failure(of: "x\(number)", catalog) }
        let atOnce = service.count()
        for number in 1000..<10_000 {
            clock.advance(by: .milliseconds(9590))
            _ = await failure(of: "x\(number)", catalog)
        }
        let spent = service.count()
        // Then a quarter of their share is spent at once, all of it in a day, and listed titles are not affected
        XCTAssertEqual(atOnce, 375)
        XCTAssertLessThanOrEqual(spent, 1500)
        XCTAssertGreaterThan(spent, 1400)
        let list = try await Self.asStranger { try await catalog.titles(of: "films", TitleQuery()) }
        for title in list.titles {
            let found = try await Self.asStranger { try await catalog.title(TitleReference(source: "films", id: title.id)) }
            XCTAssertEqual(found.id, title.id)
        }
        XCTAssertEqual(service.count(), spent + 1 + list.titles.count)
    }

    func testThatARefusalSaysWhenTheNextQuestionIsWelcome() async {
        // Given an exhausted share
        let catalog = catalog(perDay: 80)
        for number in 0..<10 { _ = await failure(of: "x\(number)", catalog) }
        // When one more title is requested
        let error = await failure(of: "y", catalog)
        // Then it succeeds after the share has gained one call
        let until = clock.now.timeIntervalSince1970 + 86_400 / 30
        XCTAssertEqual(error, .source("films", .quotaExhausted(until: until)))
        clock.advance(by: .seconds(2881))
        let later = await failure(of: "y", catalog)
        XCTAssertEqual(later, .source("films", .notFound(id: "y")))
    }

    func testThatAHundredSearchesForTheSameWordsCostOneCall() async throws {
        // Given a hundred spellings of one search
        let catalog = catalog(perDay: 3000)
        let words = ["the first film", "The First Film", "THE FIRST FILM", " the  first film ", "the\tfirst\u{3000}film"]
        // When all are requested at once, and again afterwards
        for _ in 0..<2 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let query = TitleQuery(phrase: words[number % words.count])
                        let page = try await Self.asStranger { try await catalog.titles(of: "films", query) }
                        XCTAssertEqual(page.titles.map(\.id), ["found"])
                    }
                }
                try await group.waitForAll()
            }
        }
        // Then it is one call
        XCTAssertEqual(service.count(), 1)
    }

    func testThatWhatIsNotThereIsNoCacheEntryAndCostsOneCall() async throws {
        // Given made-up names
        let cache = cache()
        let catalog = catalog(perDay: 3000, cache: cache)
        // When each is requested ten times
        for number in 0..<100 {
            for _ in 0..<10 {
                _ = await failure(of: "x\(number)", catalog)
                _ = try? await Self.asStranger { try await catalog.titles(of: "films", TitleQuery(phrase: "nothing \(number)")) }
                _ = try? await Self.asStranger {
                    try await catalog.candidates(for: TitleReference(source: "films", id: "bare \(number)"))
                }
            }
        }
        // Then each costs one call, and nothing is stored
        XCTAssertEqual(service.count(), 300)
        let entries = await cache.statistics().values.reduce(0) { $0 + $1.total.entries }
        XCTAssertEqual(entries, 0)
    }

    func testThatANothingIsAskedForAgainInAnotherCaseAndAfterAPurge() async throws {
        // Given a search without results
        let cache = cache()
        let catalog = catalog(perDay: 3000, cache: cache)
        let query = TitleQuery(phrase: "nothing")
        _ = try await catalog.titles(of: "films", query)
        // When it is repeated in another case, and after a purge
        _ = try await catalog.titles(of: "films", TitleQuery(phrase: "Nothing"))
        let other = service.count()
        _ = try await cache.purge([.tag(.source("films"))])
        _ = try await catalog.titles(of: "films", query)
        // Then each costs a call
        XCTAssertEqual(other, 2)
        XCTAssertEqual(service.count(), 3)
    }

    func testThatCandidatesAreKeptForAnHourUntilTheirTitleIsPurged() async throws {
        // Given cached candidates
        let cache = cache()
        let catalog = catalog(perDay: 3000, cache: cache)
        let title = TitleReference(source: "films", id: "1")
        let first = try await catalog.candidates(for: title)
        // When they are requested again: at once, after the title is purged, and after an hour
        for (calls, before) in [
            (1, {}), (2, { _ = try await cache.purge([.tag(.title(title))]) }), (2, {}),
            (3, { self.clock.advance(by: .seconds(3601)) }),
        ] as [(Int, () async throws -> Void)] {
            try await before()
            let again = try await catalog.candidates(for: title)
            // Then all their facts are kept, and only the last two cost a call
            XCTAssertEqual(again.map(\.location.name), first.map(\.location.name))
            XCTAssertEqual(again.map(\.trust), [0.5])
            XCTAssertEqual(again.map(\.published), first.map(\.published))
            XCTAssertEqual(service.count(), calls)
        }
    }

    func testThatWhatAStrangerAskedForOnceIsRenewedFromTheirShare() async throws {
        // Given unlisted titles that strangers have requested, and a list
        let catalog = catalog(perDay: 80)
        let titles = (0..<10).map { TitleReference(source: "films", id: "there \($0)") }
        for title in titles { _ = try await Self.asStranger { try await catalog.title(title) } }
        // When they are requested each second once they are a day old
        clock.advance(by: .seconds(86_401))
        let before = service.count()
        for _ in 0..<10 {
            for title in titles { _ = try await Self.asStranger { try await catalog.title(title) } }
        }
        // Then all are answered, and no more calls are made than the share allows at once
        XCTAssertEqual(service.count() - before, 10)
        for number in 0..<10 { _ = await failure(of: "x\(number)", catalog) }
        XCTAssertEqual(service.count() - before, 10)
    }

    func testThatAfterARestartTheListsInTheCacheSayWhichTitlesThereAre() async throws {
        // Given a list in the cache, and an exhausted share
        let cache = cache()
        let state = InMemoryState()
        let first = catalog(perDay: 80, cache: cache, state: state)
        _ = try await Self.asStranger { try await first.titles(of: "films", TitleQuery()) }
        for number in 0..<20 { _ = await failure(of: "x\(number)", first) }
        // When the server restarts and a title of the list is requested
        let second = catalog(perDay: 80, cache: cache, state: state)
        let found = try await Self.asStranger { try await second.title(TitleReference(source: "films", id: "1")) }
        // Then it is found, and the share is still exhausted
        XCTAssertEqual(found.id, "1")
        let failure = await failure(of: "y", second)
        XCTAssertEqual(failure?.title, "Quota exhausted")
    }

    func testThatPagesBehindTheLastAndLongPhrasesCostNothing() async throws {
        // Given a list with one page
        let catalog = catalog(perDay: 3000)
        _ = try await catalog.titles(of: "films", TitleQuery())
        // When pages behind it are requested, and searches without words
        for page in 2..<100 {
            let titles = try await catalog.titles(of: "films", TitleQuery(page: page)).titles
            XCTAssertEqual(titles, [])
        }
        let long = try await catalog.titles(of: "films", TitleQuery(phrase: String(repeating: "long ", count: 250)))
        // Then no call is made
        XCTAssertEqual(long.titles, [])
        XCTAssertEqual(service.count(), 1)
    }

    func testThatAFailureIsTriedAgainWhileItIsAskedForAllTheTime() async throws {
        // Given a service with malformed responses
        let catalog = catalog(perDay: 3000)
        service.on("http://service.example/", "nonsense")
        // When a list is requested each second for a minute
        for _ in 0..<60 {
            _ = try? await Self.asStranger { try await catalog.titles(of: "films", TitleQuery()) }
            clock.advance(by: .seconds(1))
        }
        // Then two calls are made: repeating a failure does not extend it
        XCTAssertEqual(service.count(), 2)
    }

    /// Runs `work` like a request from outside.
    private static func asStranger<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        try await WorkContext.with({ $0.familiarity = .unknown }) { try await work() }
    }

    private func failure(of id: String, _ catalog: Catalog) async -> Failure? {
        await WorkContext.with({ $0.familiarity = .unknown }) {
            do throws(Failure) {
                _ = try await catalog.title(TitleReference(source: "films", id: id))
                return nil
            } catch {
                return error
            }
        }
    }

    private func cache() -> Cache { Cache(memory: MemoryTier(expires: .never, clock: clock.wallClock), logger: logger) }

    private func catalog(perDay: Int, cache: Cache? = nil, state: InMemoryState = InMemoryState()) -> Catalog {
        let source = MeteredSource(
            QuotaSettings(perDay: perDay), .forTesting(transport: service, clock: clock, state: state))
        return Catalog(
            sources: ["films": source], cache: cache ?? self.cache(), counting: MemoryBudget(limit: 64 << 20),
            clock: clock.wallClock,
            logger: logger)
    }
}

/// A source whose service counts calls. It lists `1` to `5`, has titles that begin with `there`, finds a result for every search
/// except “nothing”, and has no poster for `bare` titles.
private struct MeteredSource: ContentSource {
    let originPolicy = OriginPolicy()
    private let context: PluginContext
    private let quota: DailyQuota

    init(_ quota: QuotaSettings, _ context: PluginContext) {
        self.context = context
        self.quota = DailyQuota(quota, secondsFromGMT: 0, context: context)
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        try await call("titles")
        guard let phrase = query.phrase else { return TitlePage(titles: (1...5).map { Title(id: "\($0)", name: "\($0)") }) }
        return TitlePage(titles: phrase.lowercased().hasPrefix("nothing") ? [] : [Title(id: "found", name: phrase)])
    }

    func title(_ id: String) async throws(SourceError) -> Title {
        try await call("title")
        guard Int(id) != nil || id.hasPrefix("there") else { throw .notFound(id: id) }
        return Title(id: id, name: id)
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        try await call("candidates")
        guard !id.hasPrefix("bare") else { return [] }
        return [
            PosterCandidate(
                .http(url: "http://pictures.example/\(id)"), width: 2, height: 3,
                published: Date(timeIntervalSince1970: 1_500_000_000), trust: 0.5)
        ]
    }

    private func call(_ what: String) async throws(SourceError) {
        try await quota.spend()
        let answer: HTTPAnswer
        do throws(HTTPTransportError) {
            answer = try await context.transport.get(HTTPRequest(url: "http://service.example/\(what)"), under: originPolicy)
        } catch {
            throw SourceError(error)
        }
        guard String(buffer: answer.body) != "nonsense" else { throw .malformedAnswer(reason: "nonsense") }
    }
}
