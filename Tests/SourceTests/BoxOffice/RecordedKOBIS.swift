import BoxOfficeSource
import FoundationEssentials
import OnesheetCore
import OnesheetTesting

/// KOBIS in its recorded form: almost all values are texts.
enum RecordedKOBIS {
    static let root = "https://www.kobis.or.kr/kobisopenapi/webservice/rest"
    static let daily = "\(root)/boxoffice/searchDailyBoxOfficeList.json"
    static let weekly = "\(root)/boxoffice/searchWeeklyBoxOfficeList.json"
    static let info = "\(root)/movie/searchMovieInfo.json"
    static let list = "\(root)/movie/searchMovieList.json"

    static let rows = """
        {"rnum":"1","rank":"1","rankInten":"0","rankOldAndNew":"OLD","movieCd":"20112207","movieNm":"미션임파서블:고스트프로토콜",\
        "openDt":"2011-12-15","salesAmt":"2776060500","salesShare":"36.3","salesInten":"-415699000","salesChange":"-13","salesAcc":"40541108500",\
        "audiCnt":"353274","audiInten":"-60106","audiChange":"-14.5","audiAcc":"5328435","scrnCnt":"697","showCnt":"3223"},\
        {"rnum":"2","rank":"2","rankInten":"1","rankOldAndNew":"NEW","movieCd":"2023C168","movieNm":"마이 웨이 ",\
        "openDt":" ","salesAmt":"","salesShare":"16.3","salesInten":"","salesChange":"","salesAcc":"","audiCnt":"","audiInten":"",\
        "audiChange":"","audiAcc":"","scrnCnt":"","showCnt":""}
        """

    static let day = """
        {"boxOfficeResult":{"boxofficeType":"일별 박스오피스","showRange":"20120101~20120101","dailyBoxOfficeList":[\(rows)]}}
        """

    static let week = """
        {"boxOfficeResult":{"boxofficeType":"주말 박스오피스","showRange":"20111230~20120101","yearWeekTime":"201152",\
        "weeklyBoxOfficeList":[\(rows)]}}
        """

    static let movie = """
        {"movieInfoResult":{"movieInfo":{"movieCd":"20124079","movieNm":"광해, 왕이 된 남자 ","movieNmEn":"Masquerade","movieNmOg":"",\
        "showTm":"131","prdtYear":"2012","openDt":"20120913","prdtStatNm":"개봉","typeNm":"장편","nations":[{"nationNm":"한국"}],\
        "genres":[{"genreNm":"사극"},{"genreNm":"드라마"}],"directors":[{"peopleNm":"감독","peopleNmEn":"DIRECTOR"}],\
        "actors":[{"peopleNm":"배우","peopleNmEn":"ACTOR","cast":"광해/하선","castEn":""},{"peopleNm":"배우 둘","peopleNmEn":"","cast":"","castEn":""}],\
        "showTypes":[{"showTypeGroupNm":"필름","showTypeNm":"필름"}],\
        "companys":[{"companyCd":"20120801","companyNm":"제작사","companyNmEn":"Makers","companyPartNm":"제작사"}],\
        "audits":[{"auditNo":"2012-F612","watchGradeNm":"15세이상관람가"}],\
        "staffs":[{"peopleNm":"스태프","peopleNmEn":"STAFF","staffRoleNm":"조명"}]},"source":"영화진흥위원회"}}
        """

    static func search(_ total: Int, _ codes: [String]) -> String {
        let movies = codes.map {
            """
            {"movieCd":"\($0)","movieNm":"영화 \($0)","movieNmEn":"Film \($0)","prdtYear":"2023","openDt":"","typeNm":"장편","prdtStatNm":"개봉예정",\
            "nationAlt":"한국","genreAlt":"드라마,사극","repNationNm":"한국","repGenreNm":"드라마",\
            "directors":[{"peopleNm":"감독"}],"companys":[{"companyCd":"1","companyNm":"제작사"}]}
            """
        }
        return #"{"movieListResult":{"totCnt":\#(total),"source":"영화진흥위원회","movieList":[\#(movies.joined(separator: ","))]}}"#
    }

    static func fault(_ code: String, _ message: String) -> String {
        #"{"faultInfo":{"message":"\#(message)","errorCode":"\#(code)"}}"#
    }

    static let noMovie = #"{"movieInfoResult":{"movieInfo":{"movieCd":"","movieNm":"","actors":[]},"source":"영화진흥위원회"}}"#

    static let pictures = """
        {"documents":[{"collection":"news","image_url":"http://news.example/photo.jpg","width":710,"height":490},\
        {"collection":"blog","image_url":"http://blog.example/poster","width":633,"height":909}],\
        "meta":{"is_end":true,"pageable_count":2,"total_count":2}}
        """

    /// All responses, including Kakao's pictures.
    static func transport() -> FakeTransport {
        let transport = FakeTransport()
        transport.on(daily, day)
        transport.on(weekly, week)
        transport.on(info, noMovie)
        transport.on("\(info)?key=k&movieCd=20124079", movie)
        for code in ["20112207", "2023C168"] {
            transport.on("\(info)?key=k&movieCd=\(code)", movie.split(separator: "20124079").joined(separator: code))
        }
        transport.on(list, search(41, (0..<20).map { "2023A\(100 + $0)" }))
        transport.on("https://dapi.kakao.com/v2/search/image", pictures)
        return transport
    }

    static func source(_ transport: any HTTPTransport = transport(), clock: ManualClock = ManualClock()) throws -> BoxOfficeSource {
        let posters = NestedSource(type: "kakao", configuration: .mapping(["key": .scalar("kakao-key")]))
        return try BoxOfficeSource(
            .init(key: "k", posters: posters), context: .forTesting(transport: transport, clock: clock, sources: [KakaoSource.self])
        )
    }
}
