import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import RemoteSource
import XCTest

final class RemoteSourceTests: XCTestCase {
    private func source(_ allow: [String] = ["https://images.example.com/posters/"]) throws -> RemoteSource {
        try RemoteSource(.init(allow: try allow.map { try XCTUnwrap(URLPrefix($0), $0) }), context: .forTesting())
    }

    func testThatAnAllowedURLIsItsOwnOriginal() async throws {
        // Given
        let source = try source()
        let url = "https://images.example.com/posters/a.jpg?type=w1"

        // When
        let candidates = try await source.candidates(for: url)
        let title = try await source.title(url)

        // Then
        XCTAssertEqual(candidates.map(\.location.name), [url])
        XCTAssertEqual(candidates.first?.site, "images.example.com")
        XCTAssertEqual(title, Title(id: url, name: "a.jpg"))
    }

    func testThatAURLThatIsNotAllowedIsAnUnknownTitle() async throws {
        // Given
        let source = try source()
        let urls = [
            "https://images.example.com/", "https://images.example.com/posters-2/a.jpg", "http://images.example.com/posters/a.jpg",
            "https://images.example.com.attacker.com/posters/a.jpg", "https://images.example.com/posters/../a.jpg", "a.jpg", "",
        ]

        for url in urls {
            // When
            let result: SourceError?
            do throws(SourceError) {
                _ = try await source.candidates(for: url)
                result = nil
            } catch {
                result = error
            }

            // Then
            XCTAssertEqual(result, .notFound(id: url))
        }
    }

    func testThatThereAreNoLists() async throws {
        // Given
        let source = try source()

        // When
        do throws(SourceError) {
            _ = try await source.titles(TitleQuery())
            XCTFail("a list was answered")
        } catch {
            // Then
            guard case .unsupported = error else { return XCTFail("\(error)") }
        }
    }

    func testThatThePolicyCarriesWhatIsConfigured() throws {
        // Given
        let value = try configuration(
            "allow: ['https://a.example/']\nnetworks: [loopback]\nheaders: {Referer: x}\ntimeout: 2s\nrate: 3")

        // When
        let policy = try RemoteSource(value, context: .forTesting()).originPolicy

        // Then
        XCTAssertEqual(policy.allow, [try XCTUnwrap(URLPrefix("https://a.example/"))])
        XCTAssertEqual(policy.networks, [.loopback])
        XCTAssertEqual(policy.headers, ["Referer": "x"])
        XCTAssertEqual(policy.timeout, .seconds(2))
        XCTAssertEqual(policy.rate, 3)
    }

    func testThatConnectionsEndInPublicWhereNothingIsSaid() throws {
        // Given
        let value = try configuration("allow: ['https://a.example/']")

        // When
        let policy = try RemoteSource(value, context: .forTesting()).originPolicy

        // Then
        XCTAssertEqual(policy.networks, [.public])
    }

    func testThatAConfigurationThatCannotBeUsedIsRefused() throws {
        // Given
        let cases = [
            ("allow: []", "allow: needs at least one URL prefix such as https://images.example.com/"),
            (
                "allow: ['https://a.example/']\nbaseURL: https://b.example",
                "baseURL: a remote source has none: its ids are whole URLs"
            ),
            ("allow: ['a.example']", "allow.[0]: “a.example” is not a URL prefix such as https://*.example.com/posters/"),
            ("networks: [public]", "“allow” is missing"),
            ("allow: ['https://a.example/']\nnetwork: [public]", "unknown key “network”; did you mean “networks”?"),
        ]

        for (yaml, expected) in cases {
            // When
            let make = { try RemoteSource(try self.configuration(yaml), context: .forTesting()) }

            // Then
            XCTAssertThrowsError(try make()) { XCTAssertEqual("\($0)", expected) }
        }
    }

    func testThatTheSampleConfigurationWorks() throws {
        // Given
        let yaml = RemoteSource.sampleConfiguration

        // When
        let source = try RemoteSource(try configuration(yaml), context: .forTesting())

        // Then
        XCTAssertEqual(source.originPolicy.allow?.count, 2)
    }

    func testThatItConforms() async throws {
        // Given
        let suite = SourceConformance(
            transport: FakeTransport(), knownID: "https://images.example.com/posters/a.jpg", unknownID: "https://b.example/a.jpg",
            list: nil
        ) { transport in
            try RemoteSource(
                .init(allow: [try XCTUnwrap(URLPrefix("https://images.example.com/posters/"))]),
                context: .forTesting(transport: transport))
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }

    private func configuration(_ yaml: String) throws -> RemoteSource.Configuration {
        try ConfigurationDecoder().decode(RemoteSource.Configuration.self, from: try ConfigurationValue(yaml: yaml))
    }
}
