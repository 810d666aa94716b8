import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

final class CatalogTests: XCTestCase {
    private let source = ScriptedSource()
    private let clock = ManualClock()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    func testThatAListIsAskedForOnceInItsHour() async throws {
        let catalog = catalog()
        _ = try await catalog.titles(of: "films", TitleQuery())
        let again = try await catalog.titles(of: "films", TitleQuery())
        XCTAssertEqual(again.titles.map(\.name), ["One"])
        XCTAssertEqual(source.counts.titles, 1)
    }

    func testThatTheNewestListIsAskedForAgainAfterItsHour() async throws {
        let catalog = catalog()
        _ = try await catalog.titles(of: "films", TitleQuery())
        clock.advance(by: .seconds(3601))
        _ = try await catalog.titles(of: "films", TitleQuery())
        XCTAssertEqual(source.counts.titles, 2)
    }

    func testThatADayGoneByIsAskedForOnce() async throws {
        let catalog = catalog()
        let query = TitleQuery(date: CalendarDay(clock.now, secondsFromGMT: 0).adding(days: -30))
        _ = try await catalog.titles(of: "films", query)
        clock.advance(by: .seconds(86_400 * 365))
        _ = try await catalog.titles(of: "films", query)
        XCTAssertEqual(source.counts.titles, 1)
    }

    func testThatDifferentQueriesAreDifferentAnswers() async throws {
        let catalog = catalog()
        for query in [
            TitleQuery(), TitleQuery(period: .week), TitleQuery(phrase: "one"), TitleQuery(phrase: "two"),
            TitleQuery(date: CalendarDay("20260101")), TitleQuery(list: "top"),
        ] {
            _ = try await catalog.titles(of: "films", query)
        }
        XCTAssertEqual(source.counts.titles, 6)
    }

    func testThatATitleIsKept() async throws {
        let catalog = catalog()
        let title = TitleReference(source: "films", id: "1")
        _ = try await catalog.title(title)
        _ = try await catalog.title(title)
        XCTAssertEqual(source.counts.title, 1)
    }

    func testIDsOfAnotherDatabaseAreAskedForOnceADay() async throws {
        // Given an id that means a title, and one that means none
        let catalog = catalog()
        let (foreign, own) = (TitleReference(source: "films", id: "tt7"), TitleReference(source: "films", id: "7"))
        let missing = TitleReference(source: "films", id: "tt0")
        for (day, calls) in [(0, 2), (1, 4)] {
            clock.advance(by: .seconds(Double(day) * 86_401))
            XCTAssertNil(catalog.ownIDs.own(foreign))
            for _ in 0..<2 {
                // When
                let found = try await catalog.own(foreign)
                do throws(Failure) {
                    _ = try await catalog.candidates(for: missing)
                    XCTFail("nothing was thrown")
                } catch {
                    XCTAssertEqual(error, .source("films", .notFound(id: "tt0")))
                }
                // Then
                XCTAssertEqual(found, own)
            }
            XCTAssertEqual(source.counts.ownIDs, calls)
            XCTAssertEqual(catalog.ownIDs.own(foreign), "7")
        }
        // When the title is asked for by both ids, then it is one question
        let title = try await catalog.title(foreign)
        _ = try await catalog.title(own)
        XCTAssertEqual(title.id, "7")
        XCTAssertEqual(source.counts.title, 1)
        // When the service fails a day later, then the last answer counts
        clock.advance(by: .seconds(86_401))
        source.fail(.unavailable(reason: "down"))
        let kept = try await catalog.own(foreign)
        XCTAssertEqual(kept, own)
    }

    func testOwnIDIsKnownNoLongerThanItsAnswer() async throws {
        // Given an answer that is half a day old, and a server that starts again
        let foreign = TitleReference(source: "films", id: "tt7")
        let cache = cache()
        _ = try await catalog(cache).own(foreign)
        clock.advance(by: .seconds(43_200))
        let catalog = catalog(cache)
        _ = try await catalog.own(foreign)
        XCTAssertEqual(source.counts.ownIDs, 1)
        XCTAssertEqual(catalog.ownIDs.own(foreign), "7")
        // When the answer is no longer fresh
        clock.advance(by: .seconds(43_201))
        // Then the id has to be asked for again; a stale answer while the service fails is no reason to know it
        XCTAssertNil(catalog.ownIDs.own(foreign))
        source.fail(.unavailable(reason: "down"))
        let kept = try await catalog.own(foreign)
        XCTAssertEqual(kept.id, "7")
        XCTAssertNil(catalog.ownIDs.own(foreign))
    }

    func testPurgeForgetsOwnIDs() async throws {
        let foreign = TitleReference(source: "films", id: "tt7")
        for (calls, selection) in [CacheSelection.tag(.title(foreign)), .tag(.source("films"))].enumerated() {
            // Given an id that is known
            let cache = cache()
            let catalog = catalog(cache)
            _ = try await catalog.own(foreign)
            XCTAssertEqual(catalog.ownIDs.own(foreign), "7")
            // When
            _ = try await cache.purge([selection])
            // Then the source is asked again
            XCTAssertNil(catalog.ownIDs.own(foreign))
            _ = try await catalog.own(foreign)
            XCTAssertEqual(source.counts.ownIDs, 2 * (calls + 1))
        }
    }

    func testThatWhatIsNotThereIsAskedForAgainAfterTenMinutes() async {
        // Given a title that does not exist
        let catalog = catalog()
        let title = TitleReference(source: "films", id: "nobody")
        for (wait, calls) in [(0.0, 1), (599, 1), (2, 2)] {
            // When it is requested again
            clock.advance(by: .seconds(wait))
            do throws(Failure) {
                _ = try await catalog.title(title)
                XCTFail("nothing was thrown")
            } catch {
                XCTAssertEqual(error, .source("films", .notFound(id: "nobody")))
            }
            // Then the source is called after ten minutes, and not before
            XCTAssertEqual(source.counts.title, calls, "after \(wait) s more")
        }
    }

    func testThatAStaleAnswerServesWhileTheQuotaIsUsedUp() async throws {
        // Given a cached list and title, and a source whose quota is exhausted
        let catalog = catalog()
        let title = TitleReference(source: "films", id: "1")
        _ = try await catalog.titles(of: "films", TitleQuery())
        _ = try await catalog.title(title)
        source.fail(.quotaExhausted(until: 1))
        clock.advance(by: .seconds(86_400 * 2))
        // When they are requested
        let page = try await catalog.titles(of: "films", TitleQuery())
        let found = try await catalog.title(title)
        // Then the cached answers are returned; a new request fails
        XCTAssertEqual(page.titles.map(\.name), ["One"])
        XCTAssertEqual(found.name, "One")
        do throws(Failure) {
            _ = try await catalog.titles(of: "films", TitleQuery(page: 2))
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual("\(error)", "source films: the service's quota is exhausted; it resets at 1970-01-01T00:00:01Z")
        }
    }

    func testThatAShortageOfThisServerIsNotTheSourcesFault() async throws {
        // Given a source whose calls find no room in this server
        let catalog = catalog()
        let title = TitleReference(source: "films", id: "1")
        source.fail(SourceError(HTTPTransportError.overloaded(url: "http://films.example/")))
        for calls in 1...2 {
            // When a title is requested
            do throws(Failure) {
                _ = try await catalog.title(title)
                XCTFail("nothing was thrown")
            } catch {
                // Then the client may try again soon, and the next request asks again
                XCTAssertEqual(error, .overloaded(retryAfter: 1))
            }
            XCTAssertEqual(source.counts.title, calls)
        }
        // And the source is not reported as failing
        let watch = SourceWatch(of: "films", clock: clock.wallClock, logger: logger)
        watch.note(Result<Title, SourceError>.failure(.overloaded(retryAfter: 1)), of: .title, seconds: 0)
        XCTAssertEqual(watch.health, .well)
    }

    func testThatATitleThatIsGoneIsNotServedStale() async throws {
        // Given a title that its source no longer has
        let catalog = catalog()
        let title = TitleReference(source: "films", id: "1")
        _ = try await catalog.title(title)
        source.fail(.notFound(id: "1"))
        clock.advance(by: .seconds(86_400 * 2))
        // When it is requested, then it is not found
        do throws(Failure) {
            _ = try await catalog.title(title)
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual(error, .source("films", .notFound(id: "1")))
        }
    }

    func testThatAnUnknownSourceIsSaidSo() async {
        do throws(Failure) {
            _ = try await catalog().titles(of: "film", TitleQuery())
            XCTFail("nothing was thrown")
        } catch {
            XCTAssertEqual(error, .unknownSource("film", known: ["films"]))
        }
    }

    /// A catalog with a memory tier that keeps entries for their full lifetime.
    private func catalog(_ cache: Cache? = nil) -> Catalog {
        Catalog(
            sources: ["films": source], cache: cache ?? self.cache(),
            counting: MemoryBudget(limit: 64 << 20), clock: clock.wallClock, logger: logger)
    }

    private func cache() -> Cache { Cache(memory: MemoryTier(expires: .never, clock: clock.wallClock), logger: logger) }
}
