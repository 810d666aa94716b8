import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import RestSource
import Synchronization
import XCTest

/// Pages, headers and bodies of requests.
final class RestRequestTests: XCTestCase {
    private func source(_ list: String, more: String = "", transport: FakeTransport, variables: String = "{}") throws -> RestSource
    {
        try RecordedTMDB.source(
            """
            api:
              baseURL: https://a.example
              list: { \(list), items: /r, fields: { id: { at: /id, as: text }, name: /id } }
              title: { get: "/t/{id}", fields: { id: /id, name: /id } }
              candidates: { get: "/c/{id}", items: /c, fields: { url: /url } }
              \(more)
            variables: \(variables)
            """, .forTesting(transport: transport))
    }

    func testPagesAreCountedAsTheServiceCounts() async throws {
        // Given
        let cases = [
            ("get: \"/l{?offset}\", perPage: 20, total: /total", "?offset=0", "?offset=40"),
            ("get: \"/l{?offset}\", perPage: 20, total: /total, firstOffset: 1", "?offset=1", "?offset=41"),
            ("get: \"/l{?page}\", perPage: 20, total: /total, firstPage: 0", "?page=0", "?page=2"),
        ]

        for (list, first, third) in cases {
            let transport = FakeTransport()
            transport.on("https://a.example/l", #"{"total":"45","r":[{"id":1}]}"#)
            let source = try source(list, transport: transport)

            // When
            let pages = [try await source.titles(TitleQuery()), try await source.titles(TitleQuery(page: 3))]

            // Then
            XCTAssertEqual(transport.requests.map(\.url), ["https://a.example/l" + first, "https://a.example/l" + third])
            XCTAssertEqual(pages.map(\.next), [2, nil], list)
            XCTAssertEqual(pages.map(\.total), [45, 45])
        }
    }

    func testAMissingPageEndsAList() async throws {
        // Given a service that says more pages than it has
        let transport = FakeTransport()
        transport.on("https://a.example/n/8?page=2") { _ in HTTPAnswer(status: 404) }
        transport.on("https://a.example/n/8?page=1", #"{"pages":3,"r":[{"id":1}]}"#)
        let fields = "fields: { id: { at: /id, as: text }, name: /id }"
        let lists = "lists: { \"list-{n}\": { get: \"/n/{n}{?page}\", items: /r, pages: /pages, \(fields) } }"
        let source = try source("get: /l", more: lists, transport: transport)
        // When
        let first = try await source.titles(TitleQuery(list: "list-8"))
        let second = try await source.titles(TitleQuery(list: "list-8", page: 2))
        // Then
        XCTAssertEqual([first.titles.count, second.titles.count], [1, 0])
        XCTAssertEqual([first.next, second.next], [2, nil])
    }

    func testPagesAreReadFromHeaders() async throws {
        // Given
        let transport = FakeTransport()
        transport.on("https://a.example/l") { _ in
            HTTPAnswer(
                status: 200, headers: ["x-pagination-page-count": "2", "x-pagination-item-count": "31"],
                body: ByteBuffer(string: #"{"r":[{"id":1}]}"#))
        }
        let source = try source(
            "get: \"/l{?page}\", pages: { header: X-Pagination-Page-Count }, total: { header: X-Pagination-Item-Count }",
            transport: transport)

        // When
        let pages = [try await source.titles(TitleQuery()), try await source.titles(TitleQuery(page: 2))]

        // Then
        XCTAssertEqual(pages.map(\.next), [2, nil])
        XCTAssertEqual(pages.map(\.total), [31, 31])
    }

    func testResponseDecidesTheNextPage() async throws {
        // Given
        let cases: [(String, Int?)] = [
            ("true", 2), ("false", nil), ("null", nil), (#""""#, nil), (#""https://a.example/l?page=2""#, 2), ("2", 2), ("[]", nil),
            ("{}", nil),
        ]

        for (next, expected) in cases {
            let transport = FakeTransport()
            transport.on("https://a.example/l", #"{"next":\#(next),"r":[{"id":1}]}"#)

            // When
            let page = try await source("get: \"/l{?page}\", next: /next", transport: transport).titles(TitleQuery())

            // Then
            XCTAssertEqual(page.next, expected, next)
        }
    }

    func testHeadersOfARequestHaveItsVariables() async throws {
        // Given
        let transport = FakeTransport()
        transport.on("https://a.example/l", #"{"r":[{"id":1}]}"#)
        let source = try source(
            "get: /l, headers: { X-Start: \"{offset}\", X-Key: \"k {key}\", X-None: \"{none}\" }, perPage: 50, total: /total",
            transport: transport,
            variables: "{ key: abc, none: \"\" }")

        // When
        _ = try await source.titles(TitleQuery(page: 3))

        // Then
        XCTAssertEqual(transport.requests.map(\.headers), [["X-Start": "100", "X-Key": "k abc"]])
    }

    func testBodyHasVariablesAsValues() async throws {
        // Given a query language with braces, and variables with quotes
        let transport = FakeTransport()
        transport.on("https://a.example/g", #"{"r":[{"id":1}]}"#)
        let more = """
            search:
                post: "/g"
                json:
                  query: "query ($q: String) { search(q: $q) { id } } {q}"
                  variables: { q: { text: "{query}" }, page: { text: "{page}", as: integer }, all: { text: "true", as: boolean },
                    none: { text: "{none}" }, list: [a, { text: "{none}" }], nothing: null, text: { text: { text: "x{query}" } } }
                items: /r
                fields: { id: { at: /id, as: text }, name: /id }
            """
        let source = try source("get: /l", more: more, transport: transport, variables: "{ none: \"\" }")
        let phrase = #"a"b\c", "page": {"# + "\u{0} 한"

        // When
        _ = try await source.titles(TitleQuery(phrase: phrase, page: 2))

        // Then
        let request = try XCTUnwrap(transport.requests.first)
        XCTAssertEqual(request.url, "https://a.example/g")
        XCTAssertEqual(request.headers, ["Content-Type": "application/json"])
        let body = try JSONDecoder().decode(JSONValue.self, from: Data(try XCTUnwrap(request.body).readableBytesView))
        XCTAssertEqual(
            body,
            .object([
                "query": "query ($q: String) { search(q: $q) { id } } {q}",
                "variables": .object([
                    "q": .string(phrase), "page": 2, "all": true, "list": .array(["a"]), "nothing": .null,
                    "text": .object(["text": .string("x" + phrase)]),
                ]),
            ]))
    }

    func testIDThatIsNoNumberCostsNoAnswer() async throws {
        // Given a service that numbers its titles
        let transport = FakeTransport()
        let source = try RecordedTMDB.source(
            """
            api:
              baseURL: https://a.example
              title: { post: /g, json: { id: { text: "{id}", as: integer } }, fields: { id: /id, name: /id } }
              candidates: { get: "/c/{id}", items: /c, fields: { url: /url } }
            """, .forTesting(transport: transport))

        // When
        do throws(SourceError) {
            _ = try await source.title("abc")
            XCTFail("it answered")
        } catch {
            // Then
            XCTAssertEqual(error, .notFound(id: "abc"))
        }
        XCTAssertEqual(transport.count(), 0)
    }

    func testIDsOfAFormHaveTheirOwnRequests() async throws {
        // Given films, shows with seasons, and ids of another database
        let transport = FakeTransport()
        let source = try RecordedTMDB.source(
            """
            api:
              baseURL: https://a.example
              title: { get: "/movie/{id}", fields: { id: { at: /id, as: text }, name: /name } }
              candidates: { get: "/movie/{id}/images", items: /c, fields: { url: /url } }
              cases:
                - id: "tt{number}"
                  resolve: { get: "/find/{id}", id: [{ at: /movies/0/id, as: text }, { text: "tv-{/shows/0/id}" }] }
                - id: "tv-{show}-s{season}"
                  title: { get: "/tv/{show}/season/{season}", fields: { id: { text: "tv-{show}-s{season}" }, name: /name } }
                - id: "tv-{show}"
                  title: { get: "/tv/{show}", fields: { id: { text: "tv-{/id}" }, name: /name } }
                  candidates: { get: "/tv/{show}/images", items: /c, fields: { url: /url } }
            """, .forTesting(transport: transport))
        for (path, answer) in [
            ("movie/550", #"{"id":550,"name":"Film"}"#), ("tv/7", #"{"id":7,"name":"Show"}"#),
            ("tv/7/season/2", #"{"name":"Season"}"#),
            ("find/tt1", #"{"movies":[{"id":550}],"shows":[]}"#), ("find/tt2", #"{"movies":[],"shows":[{"id":7}]}"#),
            ("find/tt3", #"{"movies":[],"shows":[]}"#), ("tv/7/images", #"{"c":[{"url":"https://b.example/7"}]}"#),
        ] { transport.on("https://a.example/\(path)", answer) }

        for (id, name) in [("550", "Film"), ("tv-7", "Show"), ("tv-7-s2", "Season"), ("tt1", "Film"), ("tt2", "Show")] {
            // When
            let title = try await source.title(id)

            // Then
            XCTAssertEqual(title, Title(id: id, name: name))
        }
        let pictures = try await source.candidates(for: "tt2").map(\.location.name)
        XCTAssertEqual(pictures, ["https://b.example/7"])
        for id in ["550", "tv-7", "tv-7-s2", "tt1", "tt2", "tt3"] {
            XCTAssertEqual(source.isForeign(id), id.hasPrefix("tt"), id)
        }
        for (id, expected) in [("550", "550"), ("tt1", "550"), ("tt2", "tv-7")] {
            let own = try await source.ownID(of: id)
            XCTAssertEqual(own, expected)
        }
        for ask in [{ _ = try await source.ownID(of: "tt3") }, { _ = try await source.title("tt3") }] {
            do {
                try await ask()
                XCTFail("it answered")
            } catch {
                XCTAssertEqual(error as? SourceError, .notFound(id: "tt3"))
            }
        }
    }

    func testRateOfTheManifestIsForDocuments() async throws {
        // Given
        for (own, expected) in [("", 2.5), ("rate: 7", 7)] {
            let transport = FakeTransport()
            transport.on("https://a.example/l", #"{"r":[{"id":1}]}"#)
            let source = try source("get: /l", more: "rate: 2.5\n\(own)", transport: transport)

            // When
            _ = try await source.titles(TitleQuery())

            // Then
            XCTAssertEqual(transport.policies.map(\.rate), [expected])
            XCTAssertEqual(source.originPolicy.rate, own.isEmpty ? nil : expected)
        }
    }

    func testListWithoutTitlesIsNoError() async throws {
        // Given a service that says so with an error
        let transport = FakeTransport()
        transport.on("https://a.example/l", #"{"error":"Nothing found!"}"#)
        let source = try source(
            "get: /l", more: "faults: [{ at: /error, equals: [\"Nothing found!\", No], reason: notFound }]", transport: transport)

        // When
        let page = try await source.titles(TitleQuery())

        // Then
        XCTAssertEqual(page.titles, [])
    }
}
