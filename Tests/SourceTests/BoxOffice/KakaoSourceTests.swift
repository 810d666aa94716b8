import FoundationEssentials
import BoxOfficeSource
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

final class KakaoSourceTests: XCTestCase {
    private func source(_ transport: FakeTransport, _ settings: HTTPSettings = HTTPSettings()) throws -> KakaoSource {
        try KakaoSource(.init(key: "k3y", http: settings), context: .forTesting(transport: transport))
    }

    func testThatAPosterWinsWhereTheFirstHitIsANewsPhoto() async throws {
        // Given
        let source = try source(RecordedKakao.transport())

        // When
        let candidates = try await source.candidates(for: "광해 포스터")

        // Then
        XCTAssertEqual(
            candidates.prefix(3).map(\.location.name),
            [
                "https://blog.kakaocdn.net/dn/poster/img.jpg", "http://cfile4.uf.daum.net/image/poster",
                "http://cfile23.uf.daum.net/image/poster-small",
            ])
        XCTAssertEqual(candidates.count, RecordedKakao.hits.count, "the runners-up are kept")
    }

    func testThatACandidateCarriesAllThatIsSaidOfIt() async throws {
        // Given
        let source = try source(RecordedKakao.transport())

        // When
        let candidate = try await source.candidates(for: "광해 포스터")[0]

        // Then
        XCTAssertEqual(candidate.width, 633)
        XCTAssertEqual(candidate.height, 909)
        XCTAssertEqual(candidate.site, "네이버블로그")
        XCTAssertEqual(candidate.page, "http://blog.example/3")
        XCTAssertEqual(candidate.published, Date(timeIntervalSince1970: 1_578_875_400))
    }

    func testThatPicturesThatDifferInTheirQueryStayTwo() async throws {
        // Given
        let source = try source(RecordedKakao.transport())

        // When
        let names = try await source.candidates(for: "광해 포스터").map(\.location.name)

        // Then
        XCTAssertTrue(names.contains("https://postfiles.pstatic.net/scene.jpg?type=w1"))
        XCTAssertTrue(names.contains("https://postfiles.pstatic.net/scene.jpg?type=w2"))
    }

    func testThatTheSearchIsAskedAsDocumented() async throws {
        // Given
        let transport = RecordedKakao.transport()
        let source = try source(transport)

        // When
        _ = try await source.candidates(for: "광해 & 왕 포스터")

        // Then
        let request = try XCTUnwrap(transport.requests.first)
        XCTAssertEqual(
            request.url,
            RecordedKakao.search
                + "?query=%EA%B4%91%ED%95%B4%20%26%20%EC%99%95%20%ED%8F%AC%EC%8A%A4%ED%84%B0&sort=accuracy&page=1&size=30")
        XCTAssertEqual(request.headers["Authorization"], "KakaoAK k3y")
        XCTAssertEqual(transport.count(), 1)
    }

    func testThatAnotherAddressTakesTheSearchsPlace() async throws {
        // Given
        let transport = FakeTransport()
        transport.on("http://127.0.0.1:9090/kakao/v2/search/image", RecordedKakao.empty)
        let source = try source(transport, HTTPSettings(networks: [.loopback], baseURL: "http://127.0.0.1:9090/kakao/"))

        // When
        let candidates = try await source.candidates(for: "x")

        // Then
        XCTAssertTrue(candidates.isEmpty)
        XCTAssertEqual(source.originPolicy.networks, [.loopback])
    }

    func testThatEveryFieldIsTyped() async throws {
        // Given
        let source = try source(RecordedKakao.transport())

        // When
        let answer = try await source.images(for: "광해 포스터")

        // Then
        XCTAssertEqual(answer.documents.count, 10)
        XCTAssertEqual(answer.documents[0].collection, "news")
        XCTAssertEqual(answer.documents[0].thumbnailURL, "https://search1.kakaocdn.net/argon/130x130_85_c/0")
        XCTAssertEqual(answer.documents[0].width, 710)
        XCTAssertEqual(answer.documents[0].published, Date(timeIntervalSince1970: 1_578_616_200))
    }

    func testThatAnAnswerNeedsNoCounts() async throws {
        // Given
        let documents = #"[{"image_url":"http://a.example/x"}]"#
        let bodies = [#"{"documents":\#(documents)}"#, #"{"documents":\#(documents),"meta":{"total_count":1}}"#]

        for body in bodies {
            // When
            let answer = try await source(RecordedKakao.transport(body)).images(for: "x")

            // Then
            XCTAssertEqual(answer.documents.map(\.imageURL), ["http://a.example/x"], body)
        }
    }

    func testThatEmptyFieldsAreAbsent() async throws {
        // Given
        let document =
            #"{"collection":"","datetime":"some day","display_sitename":"","doc_url":"","height":0,"image_url":"http://a.example/x","thumbnail_url":"","width":0}"#
        let source = try source(
            RecordedKakao.transport(#"{"documents":[\#(document)],"meta":{"is_end":true,"pageable_count":1,"total_count":1}}"#))

        // When
        let found = try await source.images(for: "x").documents[0]

        // Then
        XCTAssertNil(found.width)
        XCTAssertNil(found.height)
        XCTAssertNil(found.published)
        XCTAssertNil(found.siteName)
        XCTAssertNil(found.pageURL)
        XCTAssertNil(found.thumbnailURL)
    }

    func testThatDatesAreReadWithAndWithoutFractions() async throws {
        // Given
        let documents = ["2017-06-21T15:59:30.000+09:00", "2017-06-21T06:59:30Z"].map {
            #"{"datetime":"\#($0)","image_url":"http://a.example/\#($0.count)"}"#
        }
        let source = try source(
            RecordedKakao.transport(
                #"{"documents":[\#(documents.joined(separator: ","))],"meta":{"is_end":true,"pageable_count":2,"total_count":2}}"#))

        // When
        let found = try await source.images(for: "x").documents.map(\.published)

        // Then
        XCTAssertEqual(found, [Date(timeIntervalSince1970: 1_498_028_370), Date(timeIntervalSince1970: 1_498_028_370)])
    }

    func testThatItConforms() async throws {
        // Given
        let suite = SourceConformance(
            transport: RecordedKakao.transport(), knownID: "광해 포스터", unknownID: nil, list: nil,
            exhausted: HTTPAnswer(status: 400, body: ByteBuffer(string: #"{"code":-10,"msg":"API limit has been exceeded."}"#))
        ) {
            try KakaoSource(.init(key: "k"), context: .forTesting(transport: $0))
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}
