import OnesheetCore
import OnesheetTesting
import RestSource
import XCTest

/// What a manifest can do with the texts and the shape of a response.
final class RestTextTests: XCTestCase {
    private func source(_ title: String, candidates: String = "get: /c, items: /c, fields: { url: /url }", _ more: String = "")
        throws
        -> (RestSource, FakeTransport)
    {
        let transport = FakeTransport()
        let yaml = """
            api:
              baseURL: https://a.example
              defaults: { cdn: "https://cdn.example" }
              nothing: [N/A, "?"]
              title: { get: "/t/{id}", fields: { \(title) } }
              candidates: { \(candidates) }
            \(more)
            """
        return (try RecordedTMDB.source(yaml, .forTesting(transport: transport)), transport)
    }

    func testTextsAreCutReplacedSplitAndJoined() async throws {
        // Given
        let (source, transport) = try source(
            """
            id: { text: "{/letter}-{/number}" }, name: { at: /name, replace: [["!HS", ""], ["!HE", ""], ["  ", " "]] },
            overview: { text: "{/what}, {/where}" }, originalName: { at: /names, each: /n, join: " / " },
            releaseDate: { text: "{/y}-{/m}-{/d}" },
            metadata: { minutes: { at: /time, before: " min", as: integer }, genres: { at: /genres, split: "|" },
              votes: { at: /votes, replace: [[",", ""]], as: integer }, key: { at: /page, after: "?id=", before: "&" },
              language: { at: /language, map: { kor: ko, none: "" } }, no: { at: /no, map: { none: "" } }, fixed: { text: "by {cdn}" },
              one: { at: /one, each: /n }, is: { at: /is, as: boolean }, plain: { at: /plain, after: "?" } }
            """)
        transport.on(
            "https://a.example/t/F-01",
            """
            {"letter":"F","number":"01","name":" !HS 기생충 !HE 둘 ","what":"A","where":"N/A","names":[{"n":"x"},{"n":" "},{"n":"y"}],
            "y":2026,"m":7,"d":1,"time":"142 min","genres":"a| b ||c|","votes":"2,912,233","page":"https://x/?id=abc&b=1","language":"kor",
            "no":"none","one":{"n":7},"is":"true","plain":"as it is"}
            """)

        // When
        let title = try await source.title("F-01")

        // Then
        XCTAssertEqual(title.name, "기생충 둘")
        XCTAssertNil(title.overview, "a place without a value leaves the whole text out")
        XCTAssertEqual(title.originalName, "x / y")
        XCTAssertEqual(title.releaseDate, CalendarDay("2026-07-01"))
        XCTAssertEqual(
            title.metadata,
            [
                "minutes": 142, "genres": .array(["a", "b", "c"]), "votes": 2_912_233, "key": "abc", "language": "ko",
                "fixed": "by https://cdn.example", "one": .array([7]), "is": true, "plain": "as it is",
            ])
    }

    func testDaysAreReadAsServicesWriteThem() async throws {
        // Given
        let cases: [(String, String?)] = [
            ("2026-11-20", "2026-11-20"), ("20261120", "2026-11-20"), ("2026-11-20T07:00:00Z", "2026-11-20"),
            ("14 Oct 1994", "1994-10-14"),
            ("1 January 2026", "2026-01-01"), ("2026-1-2", "2026-01-02"), ("2026-13-2", nil), ("soon", nil), ("20260000", nil),
            ("1 Foo 2026", nil), ("14 Oct 199999999999999999999", nil),
        ]

        for (text, expected) in cases {
            let (source, transport) = try source("id: /id, name: /id, releaseDate: /day")
            transport.on("https://a.example/t/1", #"{"id":"1","day":"\#(text)"}"#)

            // When
            let title = try await source.title("1")

            // Then
            XCTAssertEqual(title.releaseDate?.description, expected, text)
        }
    }

    func testTextThatStandsForNothingCountsAsAbsent() async throws {
        // Given
        let (source, transport) = try source(
            "id: /id, name: [/name, /other], overview: /plot",
            candidates: "get: /c, items: { at: \"\", optional: true }, fields: { url: /url }")
        transport.on("https://a.example/t/1", #"{"id":"1","name":"N/A","other":"Other","plot":"?"}"#)
        transport.on("https://a.example/c", #"{"url":"N/A"}"#)

        // When
        let (title, candidates) = (try await source.title("1"), try await source.candidates(for: "1"))

        // Then
        XCTAssertEqual(title, Title(id: "1", name: "Other"))
        XCTAssertTrue(candidates.isEmpty)
    }

    func testListsHaveManyShapes() async throws {
        // Given a place, an answer, and the pictures in it; nil if the answer is malformed
        let url = "https://b.example/1"
        let cases: [(items: String, answer: String, expected: [String]?)] = [
            ("items: /c", #"{"c":[{"url":"\#(url)"}]}"#, [url]), ("items: /c", #"{"c":{"url":"\#(url)"}}"#, [url]),
            ("items: /c", #"{"c":{}}"#, nil), ("items: /c", #"{"c":"\#(url)"}"#, nil), ("items: /c", "{}", nil),
            ("items: /c", #"{"c":[]}"#, []),
            ("items: { at: /c, optional: true }", "{}", []), ("items: { at: /c, optional: true }", #"{"c":""}"#, []),
            ("items: { at: /c, optional: true }", #"{"c":7}"#, nil),
            (
                "items: { at: /c, where: { at: /kind, equals: [1, poster] } }",
                #"{"c":[{"kind":2,"url":"https://b.example/2"},{"kind":1,"url":"\#(url)"},{"url":"https://b.example/3"}]}"#, [url]
            ),
            (
                "items: { at: /c, where: [{ at: /kind }, { at: /large, equals: true }] }",
                #"{"c":[{"kind":1,"url":"https://b.example/2"},{"kind":1,"large":true,"url":"\#(url)"}]}"#, [url]
            ),
        ]

        for (items, answer, expected) in cases {
            let (source, transport) = try source("id: /id, name: /id", candidates: "get: /c, \(items), fields: { url: /url }")
            transport.on("https://a.example/c", answer)

            // When
            do throws(SourceError) {
                let candidates = try await source.candidates(for: "1")

                // Then
                XCTAssertEqual(candidates.map(\.location.name), expected, "\(items) \(answer)")
            } catch {
                XCTAssertEqual(error, .malformedAnswer(reason: "there is no list at “/c” in the service's answer"))
                XCTAssertNil(expected, "\(items) \(answer)")
            }
        }
    }

    func testTextIsSplitIntoPictures() async throws {
        // Given thumbnails in one text, from whose addresses those of the pictures follow
        let (source, transport) = try source(
            "id: /id, name: /id",
            candidates: """
                get: /c, items: { at: /posters, split: "|" },
                fields: { prefix: "{cdn}", url: { at: "", after: "https://t.example", replace: [[/thm/, /poster/], [/tn_, /]] } }
                """)
        transport.on("https://a.example/c", #"{"posters":"https://t.example/thm/tn_1.jpg||https://t.example/thm/tn_2.jpg|"}"#)

        // When
        let candidates = try await source.candidates(for: "1")

        // Then
        XCTAssertEqual(
            candidates.map(\.location.name), ["https://cdn.example/poster/1.jpg", "https://cdn.example/poster/2.jpg"])
    }

    func testControlCharactersInTextsAreSpaces() async throws {
        // Given
        let (source, transport) = try source("id: /id, name: /name")
        transport.on("https://a.example/t/1", "{\"id\":\"1\",\n\"name\":\"A\u{1}B\nC\"}")

        // When
        let title = try await source.title("1")

        // Then
        XCTAssertEqual(title.name, "A B C")
    }

    func testEditedTextsAreBounded() async throws {
        // Given a text that each step would double
        let doublings = Array(repeating: #"["a", "aa"]"#, count: 40).joined(separator: ", ")
        let (source, transport) = try source("id: /id, name: { at: /name, replace: [\(doublings)] }")
        transport.on("https://a.example/t/1", #"{"id":"1","name":"a"}"#)

        // When
        do throws(SourceError) {
            _ = try await source.title("1")
            XCTFail("it answered")
        } catch {
            // Then
            XCTAssertEqual(error, .malformedAnswer(reason: "a text has more than 65536 bytes"))
        }
    }

    func testTitleIsFoundInItsList() async throws {
        // Given a service with pages of titles and no request for one
        let transport = FakeTransport()
        let yaml = """
            api:
              baseURL: https://a.example
              list: { get: "/list{?page}", items: "", next: /0/more, fields: { id: /id, name: /name } }
              candidates: { get: "/c/{id}", items: /c, fields: { url: /url } }
            """
        transport.on("https://a.example/list?page=1", #"[{"id":1,"name":"One","more":true},{"id":2,"name":"Two"}]"#)
        transport.on("https://a.example/list?page=2", #"[{"id":3,"name":"Three","more":false}]"#)
        let source = try RecordedTMDB.source(yaml, .forTesting(transport: transport))

        // When
        let title = try await source.title("3")

        // Then
        XCTAssertEqual(title, Title(id: "3", name: "Three"))
        do throws(SourceError) {
            _ = try await source.title("4")
            XCTFail("it answered")
        } catch {
            XCTAssertEqual(error, .notFound(id: "4"))
        }
        XCTAssertEqual(transport.count(), 4)
    }
}
