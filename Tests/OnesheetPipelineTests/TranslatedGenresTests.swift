import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// Genres of titles in the wanted languages.
final class TranslatedGenresTests: XCTestCase {
    private let database = GenreDatabase()
    private let clock = ManualClock()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private lazy var cache = Cache(memory: MemoryTier(expires: .never, clock: clock.wallClock), logger: logger)
    private lazy var catalog = Catalog(
        sources: ["films": database], cache: cache, counting: MemoryBudget(limit: 64 << 20), clock: clock.wallClock,
        logger: logger)

    private func genres(_ languages: String?, of id: String = "1") async throws -> [String] {
        try await catalog.title(
            TitleReference(source: "films", id: id), in: try languages.map { try LanguageList($0) }
        ).genres
    }

    func testGenresAreInTheFirstLanguageThatHasThem() async throws {
        // Given a Korean film in English, with texts in Korean, German and French; French lacks the name of a genre
        let cases = [
            (nil, ["Drama", "War"]), ("ko", ["드라마", "전쟁"]), ("original.en", ["드라마", "전쟁"]), ("fr.de", ["Drama", "Krieg"]),
            ("fr", ["Drama", "War"]), ("ja", ["Drama", "War"]), ("none", ["Drama", "War"]), ("ja.de", ["Drama", "Krieg"]),
            ("en.de", ["Drama", "War"]), ("de.en", ["Drama", "Krieg"]), ("ko.en.de", ["드라마", "전쟁"]),
        ]
        for (languages, expected) in cases {
            // When
            let genres = try await genres(languages)
            // Then
            XCTAssertEqual(genres, expected, languages ?? "")
        }
    }

    func testNamesOfALanguageAreAskedForOnceADay() async throws {
        for day in 1...2 {
            // When many titles are asked for in two languages
            for number in 0..<20 {
                for languages in ["ko", "de.ko", "ko.de"] { _ = try await genres(languages, of: "\(number)") }
            }
            // Then
            XCTAssertEqual(database.takeCalls(), ["": 1, "ko-KR": 1, "de": 1], "day \(day)")
            clock.advance(by: .seconds(86_401))
        }
    }

    func testNothingIsAskedWithoutNeed() async throws {
        for (languages, id) in [(nil, "1"), ("ja", "1"), ("ko", "bare"), ("ko", "named")] {
            let genres = try await genres(languages, of: id)
            XCTAssertEqual(genres, id == "bare" ? [] : id == "named" ? ["극"] : ["Drama", "War"])
        }
        XCTAssertEqual(database.takeCalls(), [:])
        // A name that the database does not have is looked for in no language.
        let odd = try await genres("ko", of: "odd")
        XCTAssertEqual(odd, ["Musical Western"])
        XCTAssertEqual(database.takeCalls(), ["": 1])
    }

    func testTitleIsServedWhileNamesFail() async throws {
        // Given
        database.fails(true)
        // When
        let title = try await catalog.title(TitleReference(source: "films", id: "1"), in: try LanguageList("ko"))
        // Then
        XCTAssertEqual(title.name, "영화")
        XCTAssertEqual(title.genres, ["Drama", "War"])
    }
}

/// A database of one film, in English.
private final class GenreDatabase: ContentSource {
    let originPolicy = OriginPolicy()
    let capabilities = SourceCapabilities(namesGenres: true, genreLanguage: LanguageTag("en-US"))
    private let state = Mutex<(calls: [String: Int], fails: Bool)>(([:], false))

    /// The calls for genres since this was last asked, by language.
    func takeCalls() -> [String: Int] {
        state.withLock { state in
            defer { state.calls = [:] }
            return state.calls
        }
    }

    func fails(_ fails: Bool) { state.withLock { $0.fails = fails } }

    func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
        let fails = state.withLock { state in
            state.calls[language?.description ?? "", default: 0] += 1
            return state.fails
        }
        if fails { throw .unavailable(reason: "down") }
        return switch language?.language {
        case nil: ["18": "Drama", "10752": "War"]
        case "ko": ["18": "드라마", "10752": "전쟁"]
        case "de": ["18": "Drama", "10752": "Krieg"]
        default: ["18": "Drame"]
        }
    }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("a list") }

    func title(_ id: String) async throws(SourceError) -> Title {
        guard let korean = LanguageTag("ko-KR"), let german = LanguageTag("de"), let french = LanguageTag("fr") else {
            throw .notFound(id: id)
        }
        let genres: [JSONValue] = id == "bare" ? [] : id == "odd" ? ["Musical Western"] : ["Drama", "War"]
        return Title(
            id: id, name: "Film", originalLanguage: LanguageTag("ko"), metadata: ["genres": .array(genres)],
            translations: [
                korean: TitleTexts(name: "영화", metadata: id == "named" ? ["genres": .array(["극"])] : [:]),
                german: TitleTexts(name: "Der Film"), french: TitleTexts(name: "Le film"),
            ])
    }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
}
