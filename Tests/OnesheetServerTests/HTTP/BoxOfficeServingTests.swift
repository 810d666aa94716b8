import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The box office and the image search over real HTTP, including their faults, seen by a client.
final class BoxOfficeServingTests: ServerTestCase {
    private let list = """
        {"boxOfficeResult":{"boxofficeType":"일별 박스오피스","showRange":"20120101~20120101","dailyBoxOfficeList":[\
        {"rnum":"1","rank":"1","rankInten":"0","rankOldAndNew":"OLD","movieCd":"20112207","movieNm":"미션임파서블:고스트프로토콜 ",\
        "openDt":"2011-12-15","salesAmt":"2776060500","salesShare":"36.3","salesInten":"-415699000","salesChange":"-13",\
        "salesAcc":"40541108500","audiCnt":"353274","audiInten":"-60106","audiChange":"-14.5","audiAcc":"5328435","scrnCnt":"697",\
        "showCnt":"3223"}]}}
        """
    private let movie = """
        {"movieInfoResult":{"movieInfo":{"movieCd":"20112207","movieNm":"미션임파서블:고스트프로토콜","movieNmEn":"","movieNmOg":"",\
        "showTm":"132","prdtYear":"2011","openDt":"20111215","prdtStatNm":"개봉","typeNm":"장편","nations":[],"genres":[],\
        "directors":[],"actors":[],"showTypes":[],"companys":[],"audits":[],"staffs":[]},"source":"영화진흥위원회"}}
        """

    func testThatTheDaysListIsServedWithItsPosters() async throws {
        // Given working services
        let picture = try Picture.jpeg()
        let server = try await boxOffice { target, base in
            target.hasPrefix("/picture")
                ? .answer(type: "image/jpeg", body: picture)
                : target.hasPrefix("/kakao") ? Self.json(Self.found("\(base)/picture?type=w1")) : nil
        }
        // When the list and its first poster are requested
        let titles = try await server.send("/sources/boxoffice/titles?date=2012-01-01").json()["titles"] as? [[String: Any]]
        let poster = try await server.send("/t/p/w92/boxoffice/20112207.jpg")
        // Then both are returned
        XCTAssertEqual(titles?.first?["name"] as? String, "미션임파서블:고스트프로토콜")
        XCTAssertEqual(titles?.first?["releaseDate"] as? String, "2011-12-15")
        XCTAssertEqual(poster.status, 200, poster.text)
        XCTAssertEqual(try Picture.header(poster.body).width, 92)
    }

    func testBadKeyIsToldWithoutTheWordsOfTheService() async throws {
        let server = try await boxOffice { target, _ in
            target.hasPrefix("/kobis")
                ? Self.json("{\"faultInfo\":{\"message\":\"유효하지않은 키값입니다.\",\"errorCode\":\"320010\"}}") : nil
        }
        let answer = try await server.send("/sources/boxoffice/titles?date=2012-01-01")
        assertProblem(answer, 502, "the service rejected the key")
        XCTAssertFalse(answer.text.contains("유효하지않은"), answer.text)
    }

    func testThatAnExhaustedQuotaSaysWhenToComeAgain() async throws {
        let server = try await boxOffice { target, _ in
            target.hasPrefix("/kakao") ? Self.json("{\"code\":-10,\"msg\":\"API limit has been exceeded.\"}", status: 400) : nil
        }
        let answer = try await server.send("/t/p/w92/boxoffice/20112207.jpg")
        assertProblem(answer, 503, "quota")
        XCTAssertGreaterThan(Int(answer.field("Retry-After") ?? "") ?? 0, 0)
    }

    func testThatATitleWithoutAPosterIsNotFound() async throws {
        let server = try await boxOffice { target, _ in
            target.hasPrefix("/kakao")
                ? Self.json("{\"meta\":{\"total_count\":0,\"pageable_count\":0,\"is_end\":true},\"documents\":[]}") : nil
        }
        let answer = try await server.send("/t/p/w92/boxoffice/20112207.jpg")
        assertProblem(answer, 404, "no poster")
    }

    func testThatAnAnswerThatIsNotJSONIsMalformed() async throws {
        let server = try await boxOffice { target, _ in
            target.hasPrefix("/kobis") ? .answer(type: "application/json", body: ByteBuffer(string: "<html>")) : nil
        }
        let answer = try await server.send("/sources/boxoffice/titles?date=2012-01-01")
        assertProblem(answer, 502, "malformed")
    }

    /// A server with the box office source and services that respond according to `special`, or normally.
    private func boxOffice(
        _ special: @escaping @Sendable (_ target: String, _ base: String) -> OriginAnswer?
    ) async throws -> RunningServer {
        let (list, movie) = (list, movie)
        let origin = try await origin { target, fields in
            if let answer = special(target, "http://\(fields["host"] ?? "")") { return answer }
            if target.contains("searchDailyBoxOfficeList") { return Self.json(list) }
            return target.contains("searchMovieInfo") ? Self.json(movie) : .answer(status: 404)
        }
        return try await server(
            sources: """
                boxoffice: { type: boxoffice, key: k, baseURL: "\(origin.url)/kobis", networks: [loopback], \
                posters: { type: kakao, key: k, baseURL: "\(origin.url)/kakao", networks: [loopback] } }
                """)
    }

    private static func json(_ text: String, status: Int = 200) -> OriginAnswer {
        .answer(status: status, type: "application/json;charset=utf-8", body: ByteBuffer(string: text))
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
