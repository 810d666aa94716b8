import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// The load that one visitor can cause elsewhere, over real HTTP: calls and fetches are counted at their destinations.
final class StrangersServingTests: ServerTestCase {
    private let list = """
        {"boxOfficeResult":{"boxofficeType":"일별 박스오피스","showRange":"20120101~20120101","dailyBoxOfficeList":[\
        {"rnum":"1","rank":"1","rankInten":"0","rankOldAndNew":"OLD","movieCd":"20112207","movieNm":"미션임파서블",\
        "openDt":"2011-12-15","salesAmt":"1","salesShare":"1","salesInten":"1","salesChange":"1","salesAcc":"1","audiCnt":"1",\
        "audiInten":"1","audiChange":"1","audiAcc":"1","scrnCnt":"1","showCnt":"1"}]}}
        """

    func testThatUnknownFilmsSpendTheirShareAndListedOnesAreServed() async throws {
        // Given a box office with eighty calls a day, forty of which are for unknown titles, ten of these at once
        let calls = Calls()
        let server = try await boxOffice(calls)
        // When a hundred unlisted films are requested
        var statuses: [Int: Int] = [:]
        for number in 0..<100 {
            let answer = try await server.send("/t/p/w92/boxoffice/\(10_000_000 + number).jpg")
            statuses[answer.status, default: 0] += 1
            if answer.status == 503 { XCTAssertNotNil(answer.field("Retry-After")) }
        }
        // Then ten calls are made, the rest is refused, and the newest list and its poster are served
        XCTAssertEqual(statuses, [404: 10, 503: 90])
        XCTAssertEqual(calls["info"], 10)
        let page = try await server.send("/sources/boxoffice/titles")
        let poster = try await server.send("/t/p/w92/boxoffice/20112207.jpg")
        let health = try await server.send("/sources").text
        XCTAssertEqual(page.status, 200, page.text)
        XCTAssertEqual(poster.status, 200, poster.text)
        XCTAssertFalse(health.contains("exhausted"), health)
    }

    func testThatWhatIsAskedForInManyWaysCostsOneCall() async throws {
        // Given a box office
        let calls = Calls()
        let server = try await boxOffice(calls)
        // When the page, the list and the candidates of a poster are requested in many ways
        for number in 0..<10 {
            for path in [
                "/", "/?plain", "/?plain&v=\(number)", "/?plain&source=boxoffice", "/sources/boxoffice/titles",
                "/sources/boxoffice/titles?v=\(number)",
                "/sources/boxoffice/titles?period=day", "/sources/boxoffice/titles?page=\(number + 2)",
                "/sources/boxoffice/titles?query=%20%20", "/sources/boxoffice/titles/20112207/posters",
                "/sources/boxoffice/titles/20112207/posters?v=\(number)", "/?plain&source=boxoffice&posters=20112207",
            ] {
                for method in ["GET", "HEAD"] {
                    let answer = try await server.send(path, method: method, fields: [("Cache-Control", "no-cache")])
                    XCTAssertEqual(answer.status, 200, "\(method) \(path) \(answer.text)")
                }
            }
        }
        // Then one list and one search are called
        XCTAssertEqual(calls.all, ["list": 1, "search": 1])
    }

    func testThatDaysWithoutAListCostNothing() async throws {
        // Given a box office
        let calls = Calls()
        let server = try await boxOffice(calls)
        // When days before the first list and after the newest are requested
        for day in ["0001-01-01", "1999-12-31", "2003-11-10", "2199-01-01", "9999-12-31"] {
            for period in ["day", "week", "weekend", "weekdays"] {
                let answer = try await server.send("/sources/boxoffice/titles?date=\(day)&period=\(period)")
                XCTAssertEqual(answer.status, 200, "\(day) \(period) \(answer.text)")
            }
        }
        // Then no call is made
        XCTAssertEqual(calls.all, [:])
    }

    func testThatAQueryThatDoesNotCountIsOneFetchAndOneEntry() async throws {
        // Given a host that ignores queries, and a source configured for that
        let calls = Calls()
        let picture = try Picture.jpeg()
        let origin = try await origin { _, _ in
            calls.note("fetch")
            return .answer(type: "image/jpeg", body: picture)
        }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback], query: none }")
        // When one picture is requested with twenty queries, by each kind of address
        for number in 0..<20 {
            let url = "\(origin.url)/a.jpg?v=\(number)"
            let encoded = PercentEncoding.encode(url)
            for path in [
                "/i/unsafe/rs:fit:60:0/plain/\(encoded)@jpg", "/t/p/w92/web/\(encoded).jpg",
                "/t/p/w92/web/\(encoded)%23\(number).jpg",
            ] {
                let answer = try await server.send(path)
                XCTAssertEqual(answer.status, 200, "\(path) \(answer.text)")
            }
        }
        // Then it is fetched once
        XCTAssertEqual(calls.all, ["fetch": 1])
    }

    /// A server whose services have one film and no others.
    private func boxOffice(_ calls: Calls) async throws -> RunningServer {
        let (list, picture) = (list, try Picture.jpeg())
        let origin = try await origin { target, fields in
            if target.hasPrefix("/picture") { return .answer(type: "image/jpeg", body: picture) }
            if target.contains("searchDailyBoxOfficeList") {
                calls.note("list")
                return Self.json(list)
            }
            if target.contains("searchMovieInfo") {
                calls.note("info")
                return Self.json("{\"movieInfoResult\":{\"movieInfo\":null,\"source\":\"영화진흥위원회\"}}")
            }
            calls.note("search")
            return Self.json(Self.found("http://\(fields["host"] ?? "")/picture"))
        }
        return try await server(
            sources: """
                boxoffice: { type: boxoffice, key: k, baseURL: "\(origin.url)/kobis", networks: [loopback], quota: { perDay: 80 }, \
                posters: { type: kakao, key: k, baseURL: "\(origin.url)/kakao", networks: [loopback] } }
                """)
    }

    private static func json(_ text: String) -> OriginAnswer {
        .answer(type: "application/json;charset=utf-8", body: ByteBuffer(string: text))
    }

    /// A search result with one picture.
    private static func found(_ url: String) -> String {
        """
        {"meta":{"total_count":1,"pageable_count":1,"is_end":true},"documents":[{"collection":"blog","thumbnail_url":"\(url)",\
        "image_url":"\(url)","width":300,"height":450,"display_sitename":"blog","doc_url":"http://127.0.0.1/1",\
        "datetime":"2012-01-01T12:00:00.000+09:00"}]}
        """
    }
}

/// The number of requests to the origin, by target.
private final class Calls: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    var all: [String: Int] { counts.withLock { $0 } }
    subscript(what: String) -> Int { all[what] ?? 0 }
    func note(_ what: String) { counts.withLock { $0[what, default: 0] += 1 } }
}
