import OnesheetCore
import OnesheetTesting
import XCTest

@testable import RestSource

/// Texts in several languages, in the form in which TMDB has them.
final class RestTranslationTests: XCTestCase {
    private static let translated = """
        {"id":10,"title":"Film 10","original_title":"원제","original_language":"ko","overview":"About it.","genres":[],"translations":{"translations":[
        {"iso_3166_1":"KR","iso_639_1":"ko","name":"한국어","english_name":"Korean","data":{"homepage":"","overview":"줄거리","runtime":0,"tagline":"","title":""}},
        {"iso_3166_1":"BR","iso_639_1":"pt","name":"Português","english_name":"Portuguese","data":{"homepage":"","overview":"","runtime":0,"tagline":"Olá","title":"Filme"}},
        {"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"homepage":"","overview":"","runtime":0,"tagline":"","title":""}},
        {"iso_3166_1":"US","iso_639_1":"??","name":"","english_name":"","data":{"title":"?"}},null]}}
        """

    private func source(_ transport: FakeTransport, languages: String? = nil, variables: String = "token: t") throws -> RestSource {
        var context = PluginContext.forTesting(transport: transport)
        context.languages = try languages.map { try LanguageList($0) }
        return try RecordedTMDB.source("manifest: tmdb\nvariables: { \(variables) }", context)
    }

    func testTMDBsTranslationsComeWithTheTitle() async throws {
        // Given
        let transport = FakeTransport()
        transport.on("\(RecordedTMDB.root)/movie/10?", Self.translated)
        // When
        let title = try await source(transport).title("10")
        // Then
        let (korean, portuguese) = (try XCTUnwrap(LanguageTag("ko-KR")), try XCTUnwrap(LanguageTag("pt-BR")))
        XCTAssertEqual(
            title.translations,
            [korean: TitleTexts(overview: "줄거리"), portuguese: TitleTexts(name: "Filme", metadata: ["tagline": "Olá"])])
        XCTAssertEqual(
            transport.requests.map(\.url), ["\(RecordedTMDB.root)/movie/10?append_to_response=translations&language=en-US"])
        let read = title.read(in: try LanguageList("pt.original"))
        XCTAssertEqual([read.name, read.overview], ["Filme", "줄거리"])
    }

    func testTMDBNamesGenresOfFilmsAndShows() async throws {
        // Given, and in a language that TMDB does not have
        let transport = FakeTransport()
        for (language, film, show) in [
            ("en-US", #""War""#, #""Soap""#), ("ko-KR", #""전쟁""#, #""연속극""#), ("tlh", "null", "null"),
        ] {
            transport.on(
                "\(RecordedTMDB.root)/genre/movie/list?language=\(language)", #"{"genres":[{"id":10752,"name":\#(film)}]}"#)
            transport.on(
                "\(RecordedTMDB.root)/genre/tv/list?language=\(language)",
                #"{"genres":[{"id":10766,"name":\#(show)},{"id":10752,"name":\#(film)}]}"#)
        }
        let source = try source(transport)
        // When
        var names: [[String: String]] = []
        for language in [nil, "ko-KR", "tlh"] { names.append(try await source.genres(in: language.flatMap { LanguageTag($0) })) }
        // Then
        XCTAssertEqual(names, [["10752": "War", "10766": "Soap"], ["10752": "전쟁", "10766": "연속극"], [:]])
        XCTAssertTrue(source.capabilities.namesGenres)
        XCTAssertEqual(transport.requests.count, 6)
    }

    func testTextsOfAnEpisodeFollowToo() async throws {
        let transport = FakeTransport()
        transport.on(
            "\(RecordedTMDB.root)/tv/7/season/1/episode/2?append_to_response=translations&language=en-US",
            """
            {"id":70,"name":"Two","overview":"About it.","season_number":1,"episode_number":2,"translations":{"translations":[
            {"iso_3166_1":"KR","iso_639_1":"ko","data":{"name":"2화","overview":"줄거리"}}]}}
            """)
        let title = try await source(transport).title("tv-7-s1-e2").read(in: try LanguageList("ko"))
        XCTAssertEqual([title.name, title.overview], ["2화", "줄거리"])
    }

    func testManifestWithGenresNeedsALanguage() throws {
        for (defaults, address) in [("", "/genres{?language}"), ("defaults: { language: en }", "/genres")] {
            let manifest = """
                api:
                  baseURL: https://films.example
                  \(defaults)
                  genres: { get: "\(address)", items: /g, id: /id, name: /name }
                  title: { get: "/{id}", fields: { id: /id, name: /name } }
                  candidates: { get: "/{id}/c", items: /c, fields: { url: /u } }
                variables: { language: de }
                """
            XCTAssertThrowsError(try RecordedTMDB.source(manifest)) { XCTAssertTrue("\($0)".contains("“language”"), "\($0)") }
        }
    }

    func testFirstWantedLanguageIsThatOfTexts() async throws {
        for (languages, variables, asked) in [
            ("original.ko.en", "token: t", "ko"), ("pt-BR", "token: t", "pt-BR"), ("none", "token: t", "en-US"),
            ("ko", "token: t, language: de-DE", "de-DE"),
        ] {
            let transport = FakeTransport()
            transport.on("\(RecordedTMDB.root)/movie/10?", Self.translated)
            _ = try await source(transport, languages: languages, variables: variables).title("10")
            XCTAssertEqual(transport.requests.first?.url.split(separator: "=").last, asked[...], languages)
        }
    }

    func testManifestIsCheckedForItsTranslations() throws {
        let manifest = """
            api:
              baseURL: https://films.example
              title:
                get: "/{id}"
                fields: { id: /id, name: /name, translations: { items: /t, language: { text: "{lang}" }, name: /n } }
              candidates: { get: "/{id}/c", items: /c, fields: { url: /u } }
            """
        XCTAssertThrowsError(try RecordedTMDB.source(manifest)) { XCTAssertTrue("\($0)".contains("“lang”"), "\($0)") }
        let misspelt = manifest.replacing("language:", with: "langauge:")
        XCTAssertThrowsError(try RecordedTMDB.source(misspelt)) { XCTAssertTrue("\($0)".contains("language"), "\($0)") }
    }
}
