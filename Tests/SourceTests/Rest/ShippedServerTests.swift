import OnesheetCore
import OnesheetTesting
import RestSource
import XCTest

/// The built-in manifests of servers and of pictures that are searched for, with recorded answers.
final class ShippedServerTests: XCTestCase {
    private static let variables = [
        "jellyfin": "token: k", "plex": "section: 1", "wikidata": "contact: me@example.com",
        "kobis-naver": "key: k, naverID: i, naverKey: n",
    ]

    private static func source(_ manifest: String, _ transport: any HTTPTransport) throws -> RestSource {
        try RecordedTMDB.source(
            "manifest: \(manifest)\nvariables: { \(variables[manifest] ?? "") }\nnetworks: [loopback, public]",
            .forTesting(transport: transport))
    }

    func testEachConformsAndKeepsARate() async throws {
        // Given
        let databases: [(String, FakeTransport, known: String, unknown: String, list: TitleQuery?)] = [
            (
                "jellyfin", RecordedDatabases.jellyfin(), RecordedDatabases.jellyfinID, "0123456789abcdef0123456789abcdef",
                TitleQuery()
            ),
            ("plex", RecordedDatabases.plex(), "1024", "9", TitleQuery()),
            ("wikidata", RecordedDatabases.wikidata(), "Q61448040", "Q1", TitleQuery(phrase: "parasite")),
            ("wikidata", RecordedDatabases.wikidata(), "tt6751668", "tt1", nil),
        ]
        for database in databases {
            let suite = SourceConformance(
                transport: database.1, knownID: database.known, unknownID: database.unknown, list: database.list
            ) { try Self.source(database.0, $0) }
            // When
            let report = await suite.run()
            // Then
            XCTAssertTrue(report.failures.isEmpty, "\(database.0)\n\(report)")
            XCTAssertTrue(database.1.policies.allSatisfy { ($0.rate ?? 0) > 0 }, database.0)
        }
    }

    func testJellyfin() async throws {
        // Given
        let transport = RecordedDatabases.jellyfin()
        let source = try Self.source("jellyfin", transport)
        let id = RecordedDatabases.jellyfinID
        // When
        let (title, page) = (try await source.title(id), try await source.titles(TitleQuery()))
        let pictures = try await source.candidates(for: id)
        // Then
        XCTAssertEqual(page.titles, [title])
        XCTAssertEqual(title.originalName, "기생충")
        XCTAssertEqual(title.releaseDate, CalendarDay("2019-05-30"))
        XCTAssertEqual(title.ids, ["imdb": "tt6751668", "tmdb": "496243"])
        XCTAssertEqual(
            pictures.map(\.location.name),
            ["Primary?tag=p1", "Logo?tag=l1", "Backdrop/0?tag=b1", "Backdrop/1?tag=b2"].map {
                "http://localhost:8096/Items/\(id)/Images/\($0)"
            })
        XCTAssertEqual(pictures.map(\.kind), [.poster, .logo, .backdrop, .backdrop])
        XCTAssertEqual(pictures.first?.width, 1000)
        XCTAssertEqual(transport.requests[0].headers["X-Emby-Token"], "k")
    }

    func testImagesOfMediaServersAreIDs() throws {
        let transport = FakeTransport()
        let (jellyfin, plex) = (try Self.source("jellyfin", transport), try Self.source("plex", transport))
        for (source, id, port) in [
            (jellyfin, "/Items/12ab/Images/Primary", 8096), (jellyfin, "/Items/12ab/Images/Backdrop/1?tag=9f", 8096),
            (plex, "/library/metadata/1/thumb/1700000000", 32400), (plex, "/library/sections/1/composite/17", 32400),
        ] {
            XCTAssertEqual(source.candidates(namedBy: id)?.map(\.location.name), ["http://localhost:\(port)\(id)"], id)
        }
        XCTAssertEqual(jellyfin.originPolicy.freshness.minimum?.duration, .seconds(3600))
        // A request with the token can do more than read images.
        for id in [
            "1024", "/:/scrobble", "/library/metadata/1/refresh/1", "/library/metadata/1/thumb/1/2", "/library/metadata/../thumb/1",
            "/library/metadata/1/thumb/1?a=b", "/Items/12ab/Images/Primary",
            "/library/metadata/\(String(repeating: "1", count: 256))/thumb/1",
        ] {
            XCTAssertNil(plex.candidates(namedBy: id), id)
        }
        for id in ["/Items/12ab", "/Items/12ab/Images/Primary?tag=a&b=c", "/Items/12ab/Images/", "/abc.jpg"] {
            XCTAssertNil(jellyfin.candidates(namedBy: id), id)
        }
    }

    func testBaseURLIsTheServer() async throws {
        // Given a server that is named in one of two ways
        for place in [
            "baseURL: \"https://media.example/emby/\"", "variables: { token: k, server: \"https://media.example/emby/\" }",
        ] {
            let transport = FakeTransport()
            transport.on("https://media.example/emby/Items/12ab/Images", #"[{"ImageType":"Primary","ImageTag":"p1"}]"#)
            let token = place.hasPrefix("base") ? "\nvariables: { token: k }" : ""
            let source = try RecordedTMDB.source("manifest: jellyfin\n\(place)\(token)", .forTesting(transport: transport))
            // When
            let pictures = try await source.candidates(for: "12ab")
            // Then it is asked, and has the pictures
            XCTAssertEqual(pictures.map(\.location.name), ["https://media.example/emby/Items/12ab/Images/Primary?tag=p1"], place)
        }
        for (configuration, words) in [
            ("baseURL: \"http://a.example\"\nvariables: { server: \"http://b.example\" }", "baseURL: is “variables.server” here"),
            ("variables: { server: a.example }", "variables.server: “a.example” is not a URL such as http://localhost:32400"),
            ("baseURL: a.example", "baseURL: “a.example” is not a URL"),
        ] {
            XCTAssertThrowsError(
                try RecordedTMDB.source("manifest: plex\n\(configuration)", .forTesting(transport: FakeTransport()))
            ) { error in
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
        }
    }

    func testPlex() async throws {
        // Given
        let source = try Self.source("plex", RecordedDatabases.plex())
        // When
        let (title, page) = (try await source.title("1024"), try await source.titles(TitleQuery(phrase: "parasite")))
        let (pictures, nothing) = (
            try await source.candidates(for: "1024"), try await source.titles(TitleQuery(phrase: "nothing"))
        )
        // Then
        XCTAssertEqual(page.titles, [title])
        XCTAssertEqual(title.releaseDate, CalendarDay("2019-05-30"))
        XCTAssertEqual(title.metadata["genres"], .array(["Comedy", "Thriller"]))
        XCTAssertEqual(
            pictures.map(\.location.name),
            ["thumb", "art", "clearLogo"].map { "http://localhost:32400/library/metadata/1024/\($0)/1700000000" })
        XCTAssertEqual(pictures.map(\.kind), [.poster, .backdrop, .logo])
        XCTAssertEqual(nothing.titles, [])
    }

    func testWikidata() async throws {
        // Given
        let transport = RecordedDatabases.wikidata()
        let source = try Self.source("wikidata", transport)
        // When
        let (title, page) = (
            try await source.title("tt6751668"), try await source.titles(TitleQuery(phrase: "parasite"))
        )
        let pictures = try await source.candidates(for: "Q61448040")
        // Then
        XCTAssertEqual(page.titles.map(\.id), ["Q61448040"])
        XCTAssertEqual(title.name, "Parasite")
        XCTAssertEqual(title.originalName, "기생충")
        XCTAssertEqual(title.originalLanguage, LanguageTag("ko"))
        XCTAssertEqual(title.releaseDate, CalendarDay("2019-05-21"))
        XCTAssertEqual(title.ids["tmdb"], "496243")
        XCTAssertEqual(
            pictures.map(\.location.name),
            ["One.jpg", "Two.png", "Logo%20of%20it.svg"].map {
                "https://commons.wikimedia.org/wiki/Special:FilePath/\($0)?width=1920"
            })
        XCTAssertEqual(pictures.map(\.kind), [.poster, .poster, .logo])
        for request in transport.requests { XCTAssertEqual(request.headers["User-Agent"], "onesheet (me@example.com)") }
        // And an id cannot change the question
        do {
            _ = try await source.title("Q1} SELECT")
            XCTFail("it was asked")
        } catch {
            XCTAssertEqual(error, .notFound(id: "Q1} SELECT"))
        }
    }

    func testNaver() async throws {
        // Given
        let transport = RecordedDatabases.naver()
        let source = try Self.source("kobis-naver", transport)
        // When
        let pictures = try await source.candidates(for: "20124079")
        // Then the one that is most like a poster is first
        XCTAssertEqual(pictures.map(\.location.name), ["https://blog.example/poster.jpg", "https://blog.example/still.jpg"])
        XCTAssertEqual(pictures.map(\.width), [1050, 2000])
        let request = try XCTUnwrap(transport.requests.last)
        XCTAssertEqual(request.headers["X-NCP-APIGW-API-KEY-ID"], "i")
        XCTAssertEqual(request.headers["X-NCP-APIGW-API-KEY"], "n")
        XCTAssertTrue(request.url.contains("%ED%8F%AC%EC%8A%A4%ED%84%B0"), request.url)
    }
}
