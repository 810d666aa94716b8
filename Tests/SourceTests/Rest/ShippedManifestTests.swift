import NIOCore
import OnesheetCore
import OnesheetTesting
import RestSource
import XCTest

/// The built-in manifests with recorded answers of their databases.
final class ShippedManifestTests: XCTestCase {
    private static func source(_ manifest: String, _ transport: any HTTPTransport) throws -> RestSource {
        try RecordedTMDB.source("manifest: \(manifest)\nvariables: { key: k }", .forTesting(transport: transport))
    }

    func testEachConforms() async throws {
        // Given
        let limited = HTTPAnswer(status: 401, body: ByteBuffer(string: #"{"Response":"False","Error":"Request limit reached!"}"#))
        let databases: [(String, FakeTransport, known: String, unknown: String, list: TitleQuery?, exhausted: HTTPAnswer?)] = [
            ("omdb", RecordedDatabases.omdb(), "tt6751668", "tt9", TitleQuery(phrase: "parasite"), limited),
            ("trakt", RecordedDatabases.trakt(), "1", "9", TitleQuery(), nil),
            ("trakt", RecordedDatabases.trakt(), "tt6751668", "tt1", TitleQuery(), nil),
            ("kmdb", RecordedDatabases.kmdb(), "K-23039", "K-1", TitleQuery(phrase: "기생충"), nil),
            ("anilist", RecordedDatabases.anilist(), "199", "7", TitleQuery(), nil),
            ("tvdb", RecordedDatabases.tvdb(), "99", "98", TitleQuery(phrase: "parasite"), nil),
            ("tvdb", RecordedDatabases.tvdb(), "series-7", "series-8", nil, nil),
            ("itunes", RecordedDatabases.itunes(), "1488498054", "1", TitleQuery(phrase: "parasite"), nil),
            ("fanart", RecordedDatabases.fanart(), "496243", "1", nil, nil),
            ("fanart", RecordedDatabases.fanart(), "tt6751668", "tt1", nil, nil),
            ("fanart", RecordedDatabases.fanart(), "tvdb-350903", "tvdb-1", nil, nil),
        ]

        for database in databases {
            let suite = SourceConformance(
                transport: database.1, knownID: database.known, unknownID: database.unknown, list: database.list,
                exhausted: database.exhausted
            ) { try Self.source(database.0, $0) }

            // When
            let report = await suite.run()

            // Then
            XCTAssertTrue(report.failures.isEmpty, "\(database.0)\n\(report)")
        }
    }

    func testEachKeepsARate() async throws {
        // Given
        let answers = [
            "omdb": RecordedDatabases.omdb(), "trakt": RecordedDatabases.trakt(), "kmdb": RecordedDatabases.kmdb(),
            "anilist": RecordedDatabases.anilist(), "tvdb": RecordedDatabases.tvdb(), "itunes": RecordedDatabases.itunes(),
            "fanart": RecordedDatabases.fanart(), "tmdb": RecordedTMDB.transport(), "kobis-kakao": RecordedKOBIS.transport(),
        ]

        for (name, transport) in answers {
            let source = try RecordedTMDB.source(
                "manifest: \(name)\nvariables: { \(name == "tmdb" ? "token" : "key"): k\(name == "kobis-kakao" ? ", kakaoKey: k" : "") }",
                .forTesting(transport: transport))

            // When
            _ = try? await source.title("20124079")

            // Then
            let rates = transport.policies.map(\.rate)
            XCTAssertTrue(rates.allSatisfy { ($0 ?? 0) > 0 } && (!rates.isEmpty || name == "kmdb"), "\(name) \(rates)")
        }
    }

    func testTMDBHasMoreThanFilms() async throws {
        for (id, name, picture) in [
            ("movie-10", "Film 10", "film"), ("tt10", "Film 10", "film"), ("tv-7", "킹덤", "show"), ("tt7", "킹덤", "show"),
            ("tv-7-s2", "Season 2", "season"), ("person-5", "봉준호", "person"), ("collection-3", "Trilogy", "collection"),
        ] {
            // Given
            let transport = RecordedDatabases.tmdb()
            let make: @Sendable (any HTTPTransport) throws -> RestSource = { try RecordedTMDB.source($0) }
            let suite = SourceConformance(
                transport: transport, knownID: id, unknownID: id == "tt10" ? "tt1" : id + "00", list: nil, make: make)

            // When
            let title = try await make(transport).title(id)
            let pictures = try await make(transport).candidates(for: id)
            let report = await suite.run()

            // Then
            XCTAssertEqual(title.id, id)
            XCTAssertEqual(title.name, name)
            XCTAssertEqual(pictures.map(\.location.name), ["https://image.tmdb.org/t/p/original/\(picture).jpg"])
            XCTAssertEqual(pictures.map(\.kind), [picture == "person" ? .profile : .poster])
            XCTAssertTrue(report.failures.isEmpty, "\(id)\n\(report)")
        }
    }

    func testOMDb() async throws {
        // Given
        let source = try Self.source("omdb", RecordedDatabases.omdb())

        // When
        let (title, bare) = (try await source.title("tt6751668"), try await source.title("tt0000002"))
        let (pictures, none) = (try await source.candidates(for: "tt6751668"), try await source.candidates(for: "tt0000002"))
        let nothing = try await source.titles(TitleQuery(phrase: "nothing"))

        // Then
        XCTAssertEqual(title.overview, "Greed and class.")
        XCTAssertEqual(title.releaseDate, CalendarDay("2019-11-08"))
        XCTAssertEqual(title.metadata["runtime"], 132)
        XCTAssertEqual(title.metadata["genres"], .array(["Drama", "Thriller"]))
        XCTAssertEqual(title.metadata["voteCount"], 1_012_233)
        XCTAssertEqual(bare.metadata, ["year": 1971, "attribution": "OMDb API, CC BY-NC 4.0"])
        XCTAssertEqual(pictures.map(\.location.name), ["https://m.media-amazon.com/images/M/MV5B._V1_SX1200.jpg"])
        XCTAssertTrue(none.isEmpty)
        XCTAssertEqual(nothing.titles, [])
    }

    func testTrakt() async throws {
        // Given
        let transport = RecordedDatabases.trakt()
        let source = try Self.source("trakt", transport)

        // When
        let page = try await source.titles(TitleQuery())
        let title = try await source.title("tt6751668")
        let pictures = try await source.candidates(for: "1")

        // Then
        XCTAssertEqual(page.next, 2)
        XCTAssertEqual(page.titles.map(\.id), ["1"])
        XCTAssertEqual(title.id, "tt6751668")
        XCTAssertEqual(title.originalName, "기생충")
        XCTAssertEqual(title.originalLanguage, LanguageTag("ko"))
        XCTAssertEqual(
            pictures.first?.location.name, "https://media.trakt.tv/images/movies/000/1/posters/medium/p.jpg.webp")
        XCTAssertEqual(pictures.map(\.kind), [.poster, .backdrop, .logo])
        XCTAssertEqual(
            transport.requests[0].headers, ["trakt-api-version": "2", "trakt-api-key": "k", "User-Agent": "onesheet"])
    }

    func testKMDb() async throws {
        // Given
        let source = try Self.source("kmdb", RecordedDatabases.kmdb())

        // When
        let (title, page) = (try await source.title("K-23039"), try await source.titles(TitleQuery(phrase: "기생충")))
        let pictures = try await source.candidates(for: "K-23039")

        // Then
        XCTAssertEqual(title.name, "기생충 흑백판")
        XCTAssertEqual(title.originalName, "PARASITE")
        XCTAssertEqual(title.overview, "가난한 가족.")
        XCTAssertEqual(title.releaseDate, CalendarDay("2019-05-30"))
        XCTAssertEqual(title.metadata["directors"], .array(["봉준호"]))
        XCTAssertEqual(page.titles.map(\.id), ["K-23039"])
        XCTAssertEqual(
            pictures.map(\.location.name),
            [
                "https://file.koreafilm.or.kr/poster/00/05/22/DPK012345_01.jpg",
                "https://file.koreafilm.or.kr/poster/00/05/22/DPK012346_01.JPG",
                "https://file.koreafilm.or.kr/still/copy/00/01/DST1_01.jpg",
            ])
        XCTAssertEqual(pictures.map(\.kind), [.poster, .poster, .still])
    }

    func testAniList() async throws {
        // Given
        let source = try Self.source("anilist", RecordedDatabases.anilist())

        // When
        let (title, page) = (try await source.title("199"), try await source.titles(TitleQuery()))
        let pictures = try await source.candidates(for: "199")

        // Then
        XCTAssertEqual(title.name, "Spirited Away")
        XCTAssertEqual(title.overview, "A girl.A bath house.")
        XCTAssertEqual(title.releaseDate, CalendarDay("2001-07-20"))
        XCTAssertEqual(page.next, 2)
        XCTAssertEqual(
            pictures.map(\.location.name), ["https://s4.anilist.co/large/199.jpg", "https://s4.anilist.co/banner/199.jpg"])
        XCTAssertEqual(pictures.map(\.kind), [.poster, .banner])
    }

    func testTheTVDB() async throws {
        // Given
        let source = try Self.source("tvdb", RecordedDatabases.tvdb())

        // When
        let (title, show) = (try await source.title("99"), try await source.title("series-7"))
        let pictures = try await source.candidates(for: "99")
        let ofShow = try await source.candidates(for: "series-7")

        // Then
        XCTAssertEqual(title.releaseDate, CalendarDay("2019-05-30"))
        XCTAssertEqual(title.metadata["genres"], .array(["Drama"]))
        XCTAssertEqual(show.name, "Kingdom")
        XCTAssertEqual(title.originalLanguage, LanguageTag("ko"))
        XCTAssertEqual(
            pictures.map(\.location.name),
            ["p1.jpg", "p2.jpg", "b1.jpg", "l1.png"].map { "https://artworks.thetvdb.com/banners/\($0)" })
        XCTAssertEqual(pictures.map(\.kind), [.poster, .poster, .backdrop, .logo])
        XCTAssertEqual(pictures.map(\.language?.description), ["ko", "zh-TW", nil, "pt-BR"])
        XCTAssertEqual(ofShow.map(\.location.name), ["https://artworks.thetvdb.com/banners/s1.jpg"])
        XCTAssertEqual(ofShow.map(\.kind), [.poster])
    }

    func testITunes() async throws {
        // Given
        let source = try Self.source("itunes", RecordedDatabases.itunes())

        // When
        let title = try await source.title("1488498054")
        let pictures = try await source.candidates(for: "1488498054").map(\.location.name)
        let nothing = try await source.titles(TitleQuery(phrase: "nothing"))

        // Then
        XCTAssertEqual(title.releaseDate, CalendarDay("2019-11-08"))
        XCTAssertEqual(pictures, ["https://is1.mzstatic.com/p.jpg/2000x3000bb.jpg"])
        XCTAssertEqual(nothing.titles, [])
    }

    func testFanart() async throws {
        // Given
        let transport = RecordedDatabases.fanart()
        let source = try Self.source("fanart", transport)

        // When
        let title = try await source.title("tt6751668")
        let pictures = try await source.candidates(for: "496243")
        let bare = try await source.candidates(for: "2")

        // Then
        XCTAssertEqual(title.id, "tt6751668")
        XCTAssertEqual(title.name, "Parasite")
        XCTAssertEqual(
            pictures.map(\.location.name),
            ["ko", "plain", "background", "logo", "old"].map { "https://assets.fanart.tv/fanart/movies/1/\($0).jpg" })
        XCTAssertEqual(pictures.map(\.kind), [.poster, .poster, .backdrop, .logo, .logo])
        XCTAssertEqual(pictures.map(\.language?.description), ["ko", nil, nil, "en", "en"])
        XCTAssertEqual(pictures.map(\.voteCount), [4, 4, 4, 4, 4])
        XCTAssertTrue(bare.isEmpty, "a disc is no picture that is known here")
        XCTAssertEqual(transport.requests[0].headers, ["api-key": "k"])
    }
}
