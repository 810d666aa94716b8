import OnesheetCore
import OnesheetTesting
import XCTest

@testable import FirstSource

/// A source that is made of others.
final class FirstSourceTests: XCTestCase {
    private let film = Title(
        id: "550", name: "Fight Club", originalName: "Fight Club", releaseDate: CalendarDay("19991015"),
        ids: ["tmdb": "550", "imdb": "tt0137523"])

    func testImagesOfAllMembersAreOneList() async throws {
        // Given
        let tmdb = FakeDatabase([film], images: ["550": [.image("t", "en", votes: 5)]], ids: [DatabaseIDs("tmdb")], lists: true)
        let fanart = FakeDatabase(
            images: ["550": [.image("f", "ko", votes: 5), .image("l", "en", kind: .logo)]], ids: [DatabaseIDs("tmdb")])

        // When
        let images = try await source("sources: [tmdb, fanart]", ["tmdb": tmdb, "fanart": fanart]).candidates(for: "550")

        // Then each remembers its member, and no title was needed to ask the other
        XCTAssertEqual(images.map(\.source), ["tmdb://550", "fanart://550", "fanart://550"])
        XCTAssertEqual(images.map(\.site), ["tmdb", "fanart", "fanart"])
        XCTAssertEqual(images.map(\.isProvisional), [false, false, false])
        XCTAssertEqual(tmdb.calls, ["images 550"])
    }

    func testKindHasItsOwnMembersAndOrder() async throws {
        // Given
        let images: [PosterCandidate] = [.image("t", kind: .logo), .image("p")]
        let tmdb = FakeDatabase([film], images: ["550": images], ids: [DatabaseIDs("tmdb")], lists: true)
        let fanart = FakeDatabase(images: ["550": [.image("f", kind: .logo), .image("q")]], ids: [DatabaseIDs("tmdb")])

        // When
        let source = try source("sources: [tmdb]\nlogo: [fanart, tmdb]", ["tmdb": tmdb, "fanart": fanart])
        let found = try await source.candidates(for: "550")

        // Then
        XCTAssertEqual(found.map(\.location.name), ["p", "f", "t"].map { "https://images.example/\($0)" })
    }

    func testGenresOfAllMembersAreKnownByIDsOfTheirOwn() async throws {
        // Given members whose ids mean different genres, one that names none, and one that is down
        let tmdb = FakeDatabase([film], lists: true, genres: ["1": "Drama"])
        let (tvdb, kmdb) = (FakeDatabase(genres: ["1": "War"]), FakeDatabase())
        let down = FakeDatabase(genres: ["1": "Music"])
        down.fail(.unavailable(reason: "down"))

        // When
        let source = try source(
            "sources: [tmdb, tvdb, kmdb, down]", ["tmdb": tmdb, "tvdb": tvdb, "kmdb": kmdb, "down": down])
        let genres = try await source.genres(in: LanguageTag("ko"))

        // Then
        XCTAssertTrue(source.capabilities.namesGenres)
        XCTAssertEqual(genres.values.sorted(), ["Drama", "War"])
        XCTAssertEqual(kmdb.calls, [])
    }

    func testMemberGetsItsOwnID() async throws {
        // Given members that take the ids of IMDb and TheTVDB, in forms of their own
        let lead = FakeDatabase(
            [Title(id: "a", name: "Show", ids: ["imdb": "tt1", "tvdb": "7"])], images: ["a": []], lists: true)
        let omdb = FakeDatabase(images: ["tt1": [.image("o")]], ids: [DatabaseIDs("imdb")])
        let tvdb = FakeDatabase(images: ["series-7": [.image("s")]], ids: [DatabaseIDs("tvdb", prefix: "series-")])

        // When
        let source = try source("sources: [lead, omdb, tvdb]", ["lead": lead, "omdb": omdb, "tvdb": tvdb])
        let images = try await source.candidates(for: "a")

        // Then
        XCTAssertEqual(images.map(\.source), ["omdb://tt1", "tvdb://series-7"])
        XCTAssertEqual(images.map(\.match), [nil, nil])
    }

    func testMemberWithoutAnIDIsSearched() async throws {
        // Given a lead that has no ids of others, a database that is searched, and one that takes its ids only
        let code = Title(id: "20124079", name: "파이트 클럽", originalName: "Fight Club", releaseDate: CalendarDay("19991113"))
        let lead = FakeDatabase([code], images: ["20124079": [.image("k", trust: 0.9)]], ids: [DatabaseIDs("kobis")], lists: true)
        let tmdb = FakeDatabase([film], images: ["550": [.image("t", "en")]], ids: [DatabaseIDs("tmdb")], searches: true)
        let fanart = FakeDatabase(images: ["550": [.image("f", "ko")]], ids: [DatabaseIDs("tmdb")])

        // When
        let source = try source("sources: [lead, tmdb, fanart]", ["lead": lead, "tmdb": tmdb, "fanart": fanart])
        let images = try await source.candidates(for: "20124079")

        // Then it says why, and the other one gets the id that was found
        XCTAssertEqual(images.map(\.source), ["lead://20124079", "tmdb://550", "fanart://550"])
        XCTAssertEqual(images[1].match, "same title, same year, director unknown: 0.95 of at least 0.7")
        XCTAssertEqual(tmdb.calls, ["search 파이트 클럽", "search Fight Club", "images 550"])
    }

    func testStatedIDReplacesTheSearch() async throws {
        // Given
        let lead = FakeDatabase([Title(id: "1", name: "Home")], images: ["1": []], lists: true)
        let tmdb = FakeDatabase(images: ["550": [.image("t")]], ids: [DatabaseIDs("tmdb")], searches: true)
        let kmdb = FakeDatabase(images: ["K-1": [.image("k")]], searches: true)

        // When
        let source = try source(
            "sources: [lead, tmdb, kmdb]\nmatch: { titles: { \"1\": { tmdb: \"550\", kmdb: none } } }",
            ["lead": lead, "tmdb": tmdb, "kmdb": kmdb])
        let images = try await source.candidates(for: "1")

        // Then
        XCTAssertEqual(images.map(\.match), ["stated in the configuration"])
        XCTAssertEqual(tmdb.calls, ["images 550"])
        XCTAssertEqual(kmdb.calls, [])
    }

    func testMemberWithTheSameIDsIsAskedByThem() async throws {
        // Given a folder with posters of one's own, which has a list too
        let folder = FakeDatabase([Title(id: "550", name: "550")], images: ["550": [.image("mine")]], lists: true)
        let tmdb = FakeDatabase([film], images: ["550": []], ids: [DatabaseIDs("tmdb")], lists: true)

        // When
        let source = try source("sources: [folder, tmdb]\nsameIDs: [folder]", ["folder": folder, "tmdb": tmdb])
        let images = try await source.candidates(for: "550")

        // Then the list is the other's
        XCTAssertEqual(images.map(\.source), ["folder://550"])
        let listed = try await source.titles(TitleQuery()).titles
        XCTAssertEqual(listed.map(\.name), ["Fight Club"])
    }

    func testFailingMemberCostsItsImages() async throws {
        for failure in [
            SourceError.unavailable(reason: "down"), .rateLimited(retryAfter: 9), .quotaExhausted(until: nil),
            .overloaded(retryAfter: 1),
            .unauthorized(message: "no"), .malformedAnswer(reason: "odd"),
        ] {
            // Given
            let tmdb = FakeDatabase([film], images: ["550": [.image("t")]], ids: [DatabaseIDs("tmdb")], lists: true)
            let fanart = FakeDatabase(images: ["550": [.image("f")]], ids: [DatabaseIDs("tmdb")])
            let source = try source("sources: [tmdb, fanart]", ["tmdb": tmdb, "fanart": fanart])

            // When
            fanart.fail(failure)
            let images = try await source.candidates(for: "550")

            // Then the others' are there, and not for long
            XCTAssertEqual(images.map(\.source), ["tmdb://550"])
            XCTAssertEqual(images.map(\.isProvisional), [true])

            // When the other one fails
            fanart.fail(nil)
            tmdb.fail(failure)
            let others = try await source.candidates(for: "550")

            // Then
            XCTAssertEqual(others.map(\.source), ["fanart://550"])
        }
    }

    func testFailureOfAllIsTheFirst() async throws {
        // Given
        let tmdb = FakeDatabase(ids: [DatabaseIDs("tmdb")], lists: true)
        let fanart = FakeDatabase(ids: [DatabaseIDs("tmdb")])
        let source = try source("sources: [tmdb, fanart]", ["tmdb": tmdb, "fanart": fanart])
        tmdb.fail(.rateLimited(retryAfter: 9))

        // When
        let failure = await error { try await source.candidates(for: "550") }

        // Then
        XCTAssertEqual(failure, .rateLimited(retryAfter: 9))
        tmdb.fail(nil)
        let missing = await error { try await source.candidates(for: "550") }
        XCTAssertEqual(missing, .notFound(id: "550"))
    }

    func testSlowMemberIsNotWaitedFor() async throws {
        // Given
        let tmdb = FakeDatabase([film], images: ["550": [.image("t")]], ids: [DatabaseIDs("tmdb")], lists: true)
        let source = try source("sources: [tmdb, slow]\nwait: 50ms", ["tmdb": tmdb, "slow": HangingDatabase()])

        // When
        let images = try await source.candidates(for: "550")

        // Then
        XCTAssertEqual(images.map(\.source), ["tmdb://550"])
        XCTAssertEqual(images.map(\.isProvisional), [true])
    }

    func testTextsComeFromTheFirstThatHasThem() async throws {
        // Given
        var bare = film
        (bare.originalName, bare.metadata) = (nil, ["runtime": .integer(139), "attribution": .string("One")])
        var rich = film
        (rich.id, rich.name, rich.originalName, rich.overview) = ("tt0137523", "Other name", "Original", "Plot")
        (rich.originalLanguage, rich.ids) = (LanguageTag("en"), ["wikidata": "Q190050"])
        rich.metadata = ["runtime": .integer(1), "genres": .array([.string("Drama")]), "attribution": .string("Two")]
        let unasked = FakeDatabase([film], ids: [DatabaseIDs("tmdb")])
        let source = try source(
            "sources: [bare, rich, unasked]",
            [
                "bare": FakeDatabase([bare], ids: [DatabaseIDs("tmdb")], lists: true),
                "rich": FakeDatabase([rich], ids: [DatabaseIDs("imdb")]),
                "unasked": unasked,
            ])

        // When
        let title = try await source.title("550")

        // Then
        XCTAssertEqual(title.id, "550")
        XCTAssertEqual([title.name, title.originalName, title.overview], ["Fight Club", "Original", "Plot"])
        XCTAssertEqual(title.ids, ["tmdb": "550", "imdb": "tt0137523", "wikidata": "Q190050"])
        XCTAssertEqual(title.metadata["runtime"], .integer(139))
        XCTAssertEqual(title.metadata["genres"], .array([.string("Drama")]))
        XCTAssertEqual(title.metadata["attribution"], .string("One; Two"))
        XCTAssertEqual(unasked.calls, [])
    }

    func testTextsOfOthersServeWhileTheLeadIsDown() async throws {
        // Given
        let lead = FakeDatabase([film], ids: [DatabaseIDs("tmdb")], lists: true)
        let other = FakeDatabase([film], ids: [DatabaseIDs("tmdb")])
        let source = try source("sources: [lead, other]", ["lead": lead, "other": other])
        lead.fail(.unavailable(reason: "down"))

        // When
        let title = try await source.title("550")

        // Then
        XCTAssertEqual(title.name, "Fight Club")
    }

    func testImageWithoutAStatedLanguageIsNotOneWithoutWords() async throws {
        // Given a database that says languages, one that does not, and a search
        let tmdb = FakeDatabase(
            [film], images: ["550": [.image("t", "en"), .image("n"), .image("k", trust: 0.5)]], ids: [DatabaseIDs("tmdb")],
            lists: true)
        let kmdb = FakeDatabase(images: ["550": [.image("s")]], ids: [DatabaseIDs("tmdb")])

        // When
        let images = try await source("sources: [tmdb, kmdb]", ["tmdb": tmdb, "kmdb": kmdb]).candidates(for: "550")

        // Then
        XCTAssertEqual(images.map(\.language), [LanguageTag("en"), nil, nil, .undetermined])
    }

    func testImagesOfMembersOfAMemberKeepTheirPlace() async throws {
        // Given
        let tmdb = FakeDatabase(
            [film], images: ["550": [.image("t")]], ids: [DatabaseIDs("tmdb")], lists: true, host: "inner.example")
        let inner = try source("sources: [tmdb]", ["tmdb": tmdb])
        let outer = try source("sources: [inner]", ["inner": inner])

        // When
        let images = try await outer.candidates(for: "550")

        // Then it is fetched by the rules of its source
        XCTAssertEqual(images.map(\.source), ["tmdb://550"])
        XCTAssertEqual(outer.originPolicy(of: images[0].source), tmdb.originPolicy)
        XCTAssertEqual(outer.originPolicy(of: "elsewhere://550").allow, [])
    }

    private func source(_ yaml: String, _ members: [String: any ContentSource]) throws -> FirstSource {
        try FirstConfigurationTests.source(yaml, members)
    }

    private func error<Value>(_ body: () async throws -> Value) async -> SourceError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? SourceError
        }
    }
}

/// A database that never answers about images.
private struct HangingDatabase: ContentSource {
    let originPolicy = OriginPolicy()
    let capabilities = SourceCapabilities(hasLists: false, searches: false, ids: [DatabaseIDs("tmdb")])

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("a list") }
    func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        // Ends with the task that asks, which is cancelled.
        let (stream, end) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        end.finish()
        throw .unavailable(reason: "cancelled")
    }
}
