import BoxOfficeSource
import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import XCTest

final class BoxOfficePosterTests: XCTestCase {
    private let kakao = "https://dapi.kakao.com/v2/search/image"

    func testThatPostersAreSearchedByTheFilmsName() async throws {
        // Given
        let transport = RecordedKOBIS.transport()
        let source = try RecordedKOBIS.source(transport)

        // When
        let candidates = try await source.candidates(for: "20124079")

        // Then
        XCTAssertEqual(candidates.map(\.location.name), ["http://blog.example/poster", "http://news.example/photo.jpg"])
        let phrase = PercentEncoding.encode("광해, 왕이 된 남자 포스터")
        XCTAssertEqual(transport.count("\(kakao)?query=\(phrase)&"), 1)
    }

    func testThatANameThatAListHasBroughtCostsNoCallForDetails() async throws {
        // Given
        let transport = RecordedKOBIS.transport()
        let source = try RecordedKOBIS.source(transport)
        _ = try await source.titles(TitleQuery(date: CalendarDay("20120101")))

        // When
        _ = try await source.candidates(for: "20112207")

        // Then
        XCTAssertEqual(transport.count(RecordedKOBIS.info), 0)
        XCTAssertEqual(transport.count("\(kakao)?query=\(PercentEncoding.encode("미션임파서블:고스트프로토콜 포스터"))&"), 1)
    }

    func testThatAFilmWithoutPosterHasNoCandidates() async throws {
        // Given
        let transport = RecordedKOBIS.transport()
        transport.on(kakao, #"{"documents":[],"meta":{"is_end":true,"pageable_count":0,"total_count":0}}"#)
        let source = try RecordedKOBIS.source(transport)

        // When
        let candidates = try await source.candidates(for: "20124079")

        // Then
        XCTAssertTrue(candidates.isEmpty)
    }

    /// A source of posters that resembles a folder.
    private struct Pictures: SourcePlugin {
        struct Configuration: Decodable, Sendable { var changed: [String]? }
        static let type = "pictures"
        static let sampleConfiguration = ""
        let originPolicy = OriginPolicy()
        let changed: [String]?

        init(_ configuration: Configuration, context: PluginContext) { changed = configuration.changed }
        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { TitlePage(titles: []) }
        func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
        func changes() async throws(SourceError) -> TitleChanges? { changed.map { $0.isEmpty ? .none : .titles($0) } }
    }

    func testThatAPictureThatChangesMayBeAnyFilms() async throws {
        let cases: [([String]?, TitleChanges?)] = [(nil, nil), ([], TitleChanges.none), (["광해 포스터"], .all)]
        for (changed, expected) in cases {
            // Given
            let list = changed.map { ConfigurationValue.list($0.map(ConfigurationValue.scalar)) } ?? .null
            let source = try BoxOfficeSource(
                .init(key: "k", posters: NestedSource(type: "pictures", configuration: .mapping(["changed": list]))),
                context: .forTesting(sources: [Pictures.self]))
            // When
            let told = try await source.changes()
            // Then
            XCTAssertEqual(told, expected)
        }
    }

    func testThatTheSearchsFailureIsTheSources() async throws {
        // Given
        let transport = RecordedKOBIS.transport()
        transport.on(kakao, status: 400, #"{"code":-10,"msg":"API limit has been exceeded."}"#)
        let source = try RecordedKOBIS.source(transport)

        // When
        do throws(SourceError) {
            _ = try await source.candidates(for: "20124079")
            XCTFail("it answered")
        } catch {
            // Then
            XCTAssertEqual(error, .quotaExhausted(until: 1_795_273_200))
        }
    }

    func testThatPicturesAreFetchedUnderTheSearchsPolicy() throws {
        // Given
        let yaml = "key: k\nnetworks: [loopback]\nposters: { type: kakao, key: q, networks: [private] }"
        let value = try ConfigurationValue(yaml: yaml)

        // When
        let source = try BoxOfficeConfigurationTests.source(value)

        // Then
        XCTAssertEqual(source.originPolicy.networks, [.private])
    }
}
