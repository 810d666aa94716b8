import OnesheetCore
import OnesheetTesting
import XCTest

@testable import RemoteSource

/// The parameters of a URL that identify the picture.
final class CountedQueryTests: XCTestCase {
    private let picture = "https://images.example/a%20b.jpg"

    func testThatAllOfAQueryCountsWhereNothingIsSaid() throws {
        let source = try source([:])
        XCTAssertEqual(source.canonicalID("\(picture)?v=2&w=1&v=1"), "\(picture)?v=2&w=1&v=1")
    }

    func testThatWhatDoesNotCountMakesNoOtherPicture() throws {
        // Given a host that ignores queries
        let source = try source(["query": .scalar("none")])
        // When a thousand queries are made up for one picture
        let ids = Set((0..<1000).map { source.canonicalID("\(picture)?v=\($0)") })
        // Then they give one picture
        XCTAssertEqual(ids, [picture])
        XCTAssertEqual(source.canonicalID("\(picture)?"), picture)
        XCTAssertEqual(source.canonicalID(picture), picture)
    }

    func testThatNamedParametersStandInTheirOrderAndOnce() throws {
        let source = try source(["query": .list([.scalar("w"), .scalar("h")])])
        for (query, counted) in [
            ("?h=2&w=1", "?w=1&h=2"), ("?w=1&w=3&x=9&h=2&w=4", "?w=1&h=2"), ("?W=1", ""), ("?%77=1", ""), ("?w", "?w"),
            ("?w=%C3%A9&&", "?w=%C3%A9"), ("?x=w=1", ""), ("", ""),
        ] {
            XCTAssertEqual(source.canonicalID(picture + query), picture + counted, query)
        }
    }

    func testThatOneURLHasOneSpelling() throws {
        let source = try source([:])
        for other in ["HTTPS://Images.Example/a%20b.jpg", "https://images.example:443/a%20b.jpg", "\(picture)#\(1)"] {
            XCTAssertEqual(source.canonicalID(other), picture, other)
        }
    }

    func testThatAParsedURLHasTheIDOfItsText() throws {
        for query in [ConfigurationValue.scalar("all"), .scalar("none"), .list([.scalar("w")])] {
            let source = try source(["query": query])
            for text in ["HTTPS://Images.Example:443/a%20b.jpg?v=1&w=2#top", "\(picture)?", "\(picture)?a b=ä"] {
                let url = try XCTUnwrap(WebURL(text))
                XCTAssertEqual(source.canonicalID(of: url), source.canonicalID(text), text)
            }
        }
    }

    func testInvalidURLsAreUnchanged() throws {
        let source = try source(["query": .scalar("none")])
        for id in ["no URL", ""] { XCTAssertEqual(source.canonicalID(id), id) }
        // And what is stored of a URL that was allowed is found
        XCTAssertEqual(source.canonicalID("https://other.example/a.jpg?v=1"), "https://other.example/a.jpg")
    }

    func testThatWhatIsFetchedHasOnlyWhatCounts() async throws {
        // Given an id that did not come from a request
        let source = try source(["query": .scalar("none")])
        // When its candidates are requested
        let candidates = try await source.candidates(for: "\(picture)?v=7")
        // Then equal bytes stand for the same picture
        XCTAssertEqual(candidates.map(\.location.name), [picture])
    }

    func testThatOtherValuesAreRefused() {
        for value in [
            ConfigurationValue.scalar("some"), .list([.scalar("a=b")]), .list([.scalar("")]), .list([.list([])]), .mapping([:]),
        ] {
            XCTAssertThrowsError(try source(["query": value]), "\(value)") {
                XCTAssertTrue("\($0)".contains("query: needs"), "\($0)")
            }
        }
    }

    private func source(_ keys: [String: ConfigurationValue]) throws -> RemoteSource {
        let value = ConfigurationValue.mapping(
            keys.merging(["allow": .list([.scalar("https://images.example/")])]) { own, _ in own })
        let configuration = try ConfigurationDecoder().decode(RemoteSource.Configuration.self, from: value)
        return try RemoteSource(configuration, context: .forTesting(transport: FakeTransport()))
    }
}
