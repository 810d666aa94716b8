import BoxOfficeSource
import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import XCTest

final class BoxOfficeConfigurationTests: XCTestCase {
    static func source(_ value: ConfigurationValue) throws -> BoxOfficeSource {
        try BoxOfficeSource(
            try ConfigurationDecoder().decode(BoxOfficeSource.Configuration.self, from: value),
            context: .forTesting(sources: [KakaoSource.self]))
    }

    func testThatTheSampleConfigurationWorks() throws {
        // Given
        let value = try ConfigurationValue(yaml: BoxOfficeSource.sampleConfiguration)

        // When
        let configuration = try ConfigurationDecoder().decode(BoxOfficeSource.Configuration.self, from: value)

        // Then
        XCTAssertEqual(configuration.key, "${KOBIS_KEY}")
        XCTAssertEqual(configuration.posters.type, "kakao")
        XCTAssertEqual(configuration.http.rate, 5)
        XCTAssertNoThrow(try Self.source(value))
    }

    func testThatAConfigurationThatCannotBeUsedIsRefused() throws {
        // Given
        let cases = [
            ("key: ''\nposters: { type: kakao, key: k }", "key: is empty; it is the key from kobis.or.kr"),
            ("posters: { type: kakao, key: k }", "“key” is missing"), ("key: k", "“posters” is missing"),
            ("key: k\nposters: { key: k }", "posters: needs a “type”"),
            ("key: k\nposters: { type: kaako, key: k }", "posters.type: unknown source type “kaako”; did you mean “kakao”?"),
            ("key: k\nposters: { type: kakao }", "posters: “key” is missing"),
            (
                "key: k\nposters: { type: kakao, key: k, netwroks: [public] }",
                "posters: unknown key “netwroks”; did you mean “networks”?"
            ),
            (
                "key: k\nposters: { type: kakao, key: k }\nbaseURL: 'ftp://x'",
                "baseURL: “ftp://x” is not a URL such as https://www.kobis.or.kr/kobisopenapi/webservice/rest"
            ),
            ("key: k\nposter: { type: kakao, key: k }", "unknown key “poster”; did you mean “posters”?"),
            ("key: k\nposters: { type: kakao, key: k }\ntimeot: 1s", "unknown key “timeot”; did you mean “timeout”?"),
        ]

        for (yaml, expected) in cases {
            // When
            let make = { try Self.source(try ConfigurationValue(yaml: yaml)) }

            // Then
            XCTAssertThrowsError(try make(), yaml) { XCTAssertEqual("\($0)", expected) }
        }
    }

    func testThatAnotherAddressTakesTheServicesPlace() async throws {
        // Given
        let transport = FakeTransport()
        transport.on("http://127.0.0.1:9090/kobis/boxoffice/searchDailyBoxOfficeList.json", RecordedKOBIS.day)
        let value = try ConfigurationValue(
            yaml: "key: k\nbaseURL: 'http://127.0.0.1:9090/kobis'\nnetworks: [loopback]\nposters: { type: kakao, key: k }")
        let source = try BoxOfficeSource(
            try ConfigurationDecoder().decode(BoxOfficeSource.Configuration.self, from: value),
            context: .forTesting(transport: transport, sources: [KakaoSource.self]))

        // When
        let page = try await source.titles(TitleQuery(date: CalendarDay("20120101")))

        // Then
        XCTAssertEqual(page.titles.count, 2)
    }
}
