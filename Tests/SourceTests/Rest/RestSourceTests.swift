import OnesheetCore
import OnesheetTesting
import RestSource
import XCTest

final class RestSourceTests: XCTestCase {
    func testThatAListGoesFromPageToPage() async throws {
        // Given
        let transport = RecordedTMDB.transport()
        let source = try RecordedTMDB.source(transport)

        // When
        let pages = [try await source.titles(TitleQuery()), try await source.titles(TitleQuery(page: 3))]

        // Then
        XCTAssertEqual(pages.map(\.next), [2, nil])
        XCTAssertEqual(pages.map(\.total), [6, 6])
        XCTAssertEqual(pages[0].titles.map(\.id), ["10", "11"])
        XCTAssertEqual(pages[0].titles[0].name, "Film 10")
        XCTAssertEqual(pages[0].titles[0].originalName, "원제 0")
        XCTAssertNil(pages[0].titles[0].overview)
        XCTAssertEqual(pages[0].titles[0].releaseDate, CalendarDay("2026-10-28"))
        XCTAssertEqual(
            pages[0].titles[0].metadata,
            ["voteAverage": 7, "voteCount": 3, "popularity": .number(12.5), "originalLanguage": "ko", "posterPath": "/p0.jpg"])
        XCTAssertEqual(transport.requests[0].headers["Authorization"], "Bearer t0ken")
    }

    func testDamagedTitleDoesNotTakeTheListWithIt() async throws {
        // Given a list in which one title has no name
        let transport = FakeTransport()
        transport.on("http", RecordedTMDB.list(1, of: 1).replacing("\"title\":\"Film 10\",", with: ""))
        // When
        let page = try await RecordedTMDB.source(transport).titles(TitleQuery())
        // Then the other one is there
        XCTAssertEqual(page.titles.map(\.id), ["11"])
    }

    func testPagesThatTheServiceRefusesAreNotAskedFor() async throws {
        // Given a service that counts more pages than it gives out
        let transport = FakeTransport()
        transport.on("http", RecordedTMDB.list(500, of: 45_000))
        let source = try RecordedTMDB.source(transport)
        // When the last page and the one after it are asked for
        let last = try await source.titles(TitleQuery(page: 500))
        let beyond = try await source.titles(TitleQuery(page: 501))
        // Then the list ends there, and the second costs no call
        XCTAssertEqual(last.titles.count, 2)
        XCTAssertNil(last.next)
        XCTAssertEqual(beyond.titles, [])
        XCTAssertEqual(transport.requests.count, 1)
    }

    func testThatASearchEscapesItsWords() async throws {
        // Given
        let transport = RecordedTMDB.transport()
        let source = try RecordedTMDB.source(transport)

        // When
        let page = try await source.titles(TitleQuery(phrase: "film & co"))

        // Then
        XCTAssertEqual(page.titles.count, 2)
        XCTAssertEqual(
            transport.requests.map(\.url), ["\(RecordedTMDB.root)/search/movie?query=film%20%26%20co&language=en-US&page=1"])
    }

    func testThatATitleHasItsFacts() async throws {
        // Given
        let source = try RecordedTMDB.source()

        // When
        let title = try await source.title("10")

        // Then
        XCTAssertEqual(title.overview, "About it.")
        XCTAssertEqual(
            title.metadata,
            [
                "runtime": 118, "genres": .array(["Drama", "Fantasy"]), "voteAverage": .number(7.25), "voteCount": 3,
                "posterPath": "/p0.jpg", "attribution": "This product uses the TMDB API but is not endorsed or certified by TMDB.",
            ])
    }

    func testThatCandidatesComeInTheirOrderOnce() async throws {
        // Given
        let source = try RecordedTMDB.source()

        // When
        let candidates = try await source.candidates(for: "10")

        // Then
        XCTAssertEqual(
            candidates.map(\.location.name),
            ["b.jpg", "a.jpg", "d.jpg", "l.png"].map { "https://image.tmdb.org/t/p/original/\($0)" })
        XCTAssertEqual(candidates.map(\.width), [2000, 1000, 1920, 500])
        XCTAssertEqual(candidates.map(\.height), [3000, 1500, 1080, 200])
    }

    func testImagesHaveTheirKindLanguageAndVotes() async throws {
        // Given
        let source = try RecordedTMDB.source()
        // When
        let candidates = try await source.candidates(for: "10")
        // Then
        XCTAssertEqual(candidates.map(\.kind), [.poster, .poster, .backdrop, .logo])
        XCTAssertEqual(candidates.map(\.language?.description), ["ko-KR", nil, nil, "pt-BR"])
        XCTAssertEqual(candidates.map(\.votes), [5.3, 5.1, 5.5, 0])
        XCTAssertEqual(candidates.map(\.voteCount), [9, 3, 4, 0])
        let title = try await source.title("10")
        XCTAssertEqual(title.originalLanguage, LanguageTag("ko"))
    }

    func testListOfMixedKindsSaysTheKindOfEach() async throws {
        // Given a service with one list, in which one image has a kind that does not exist
        let transport = FakeTransport()
        let items = [#"{"u":"http://a/1","t":"logo"}"#, #"{"u":"http://a/2"}"#, #"{"u":"http://a/3","t":"disc","l":"Klingon!"}"#]
        transport.on("http", "{\"images\":[\(items.joined(separator: ","))]}")
        let source = try RecordedTMDB.source(
            """
            api:
              baseURL: http://service.example
              title: { get: "/{id}", fields: { id: /id, name: /name } }
              candidates: { get: "/{id}/images", items: /images, fields: { url: /u, imageKind: /t, language: /l } }
            """, .forTesting(transport: transport))
        // When
        let candidates = try await source.candidates(for: "1")
        // Then
        XCTAssertEqual(candidates.map(\.kind), [.logo, .poster, .poster])
        XCTAssertEqual(candidates.map(\.language), [nil, nil, .undetermined])
        XCTAssertEqual(candidates[2].unreadable.count, 2)
    }

    func testListsHaveNames() async throws {
        // Given
        let transport = RecordedTMDB.transport()
        for page in 1...12 {
            transport.on("\(RecordedTMDB.root)/movie/popular?language=en-US&page=\(page)", RecordedTMDB.list(page, of: 12))
        }
        transport.on("\(RecordedTMDB.root)/trending/tv/week?", #"{"results":[{"id":7,"name":"Show"}],"total_pages":1}"#)
        transport.on("\(RecordedTMDB.root)/collection/5?", #"{"id":5,"parts":[{"id":11,"title":"One"},{"id":12,"title":"Two"}]}"#)
        let source = try RecordedTMDB.source(transport)

        // When
        let popular = try await source.titles(TitleQuery(list: "popular", page: 10))
        let shows = try await source.titles(TitleQuery(list: "tv-trending"))
        let parts = try await source.titles(TitleQuery(list: "collection-5"))

        // Then
        XCTAssertEqual(popular.titles.map(\.id), ["100", "101"])
        XCTAssertNil(popular.next, "the first 200")
        XCTAssertEqual(shows.titles.map(\.id), ["tv-7"])
        XCTAssertEqual(parts.titles.map(\.name), ["One", "Two"])
        XCTAssertNil(parts.next)
        XCTAssertEqual(
            source.capabilities.lists, ["collection-{collection}", "popular", "top-rated", "trending", "tv-popular", "tv-trending"])
        do throws(SourceError) {
            _ = try await source.titles(TitleQuery(list: "collection-6"))
            XCTFail("there is no collection 6")
        } catch {
            XCTAssertEqual(error, .notFound(id: "collection-6"))
        }
        for name in ["poplar", "collection-", "collection-{collection}", "collection-5/6", ""] {
            do throws(SourceError) {
                _ = try await source.titles(TitleQuery(list: name))
                XCTFail("“\(name)” is a list")
            } catch {
                guard case .unsupported(let what, _) = error else { return XCTFail("\(error)") }
                XCTAssertTrue(what.hasPrefix("unknown list “\(name)”"), what)
            }
        }
    }

    func testThatWhatTheManifestDoesNotDescribeIsUnsupported() async throws {
        // Given
        let source = try RecordedTMDB.source()
        let queries = [TitleQuery(date: CalendarDay("2026-11-20")), TitleQuery(period: .week)]

        for query in queries {
            // When
            do throws(SourceError) {
                _ = try await source.titles(query)
                XCTFail("it answered")
            } catch {
                // Then
                guard case .unsupported = error else { return XCTFail("\(error)") }
            }
        }
    }

    func testThatFaultsBecomeTheReasonsTheyMean() async throws {
        // Given
        let cases: [(Int, String, SourceError)] = [
            (401, RecordedTMDB.badKey, .unauthorized(message: "Invalid API key: You must be granted a valid key.")),
            (404, RecordedTMDB.missing, .notFound(id: "10")), (429, "{}", .rateLimited(retryAfter: 1)),
            (403, "", .unauthorized(message: "HTTP status 403")),
            (502, "<html>", .unavailable(reason: "the service returned HTTP status 502")),
            (418, "{}", .malformedAnswer(reason: "the service returned HTTP status 418")),
            (200, "<html>", .malformedAnswer(reason: "the service's answer is not JSON")),
            (200, "[]", .malformedAnswer(reason: "there is no title in the service's answer")),
            (200, #"{"id":10}"#, .malformedAnswer(reason: "“10” has no name at /title")),
            (200, #"{"id":11,"title":"x"}"#, .notFound(id: "10")),
        ]

        for (status, body, expected) in cases {
            let transport = FakeTransport()
            transport.on("http", status: status, body)
            let source = try RecordedTMDB.source(transport)

            // When
            do throws(SourceError) {
                _ = try await source.title("10")
                XCTFail("it answered \(body)")
            } catch {
                // Then
                XCTAssertEqual(error, expected, body)
            }
        }
    }

    func testPauseOfAServiceReachesTheClient() async throws {
        // Given a service that is down and says for how long
        let transport = FakeTransport()
        transport.on("http") { _ async throws(HTTPTransportError) in HTTPAnswer(status: 503, headers: ["retry-after": "600"]) }
        let source = try RecordedTMDB.source(transport)
        do throws(SourceError) {
            _ = try await source.title("10")
            XCTFail("it answered")
        } catch {
            XCTAssertEqual(error, .unavailable(reason: "the service returned HTTP status 503", retryAfter: 600))
        }
    }

    func testThatIDsThatWouldClimbCostNoCall() async throws {
        // Given
        let transport = RecordedTMDB.transport()
        let source = try RecordedTMDB.source(transport)

        for id in ["", ".", "..", "a\u{0}"] {
            // When
            do throws(SourceError) {
                _ = try await source.title(id)
                XCTFail("it answered")
            } catch {
                // Then
                XCTAssertEqual(error, .notFound(id: id))
            }
        }
        XCTAssertEqual(transport.count(), 0)
    }

    func testThatItConforms() async throws {
        // Given
        let suite = SourceConformance(transport: RecordedTMDB.transport(), knownID: "10", unknownID: "99", list: TitleQuery()) {
            try RecordedTMDB.source($0)
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}
