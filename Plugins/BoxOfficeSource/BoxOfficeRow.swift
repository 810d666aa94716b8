public import OnesheetCore

/// The row of a film in a daily or weekly box office list.
/// Documented at <https://www.kobis.or.kr/kobisopenapi/homepg/apiservice/searchServiceInfo.do>.
public struct BoxOfficeRow: Sendable, Equatable {
    /// Whether the film was in the list before.
    public enum Entry: String, Sendable, Codable {
        case new = "NEW"
        case old = "OLD"
    }

    /// KOBIS `rnum`: the number of the row in this response.
    public var line: Int?
    /// `rank`, from 1.
    public var rank: Int
    /// `rankInten`: places gained since the previous day or week; negative for places lost.
    public var rankChange: Int?
    /// `rankOldAndNew`
    public var entry: Entry?
    /// `movieCd`: may hold letters.
    public var code: String
    /// `movieNm`
    public var name: String
    /// `openDt`
    public var released: CalendarDay?
    /// `salesAmt`, in won, of this day or week.
    public var sales: Int?
    /// `salesShare`: percent of all sales.
    public var salesShare: Double?
    /// `salesInten`: won more than the previous day or week.
    public var salesIncrease: Int?
    /// `salesChange`: percent more than the previous day or week.
    public var salesChange: Double?
    /// `salesAcc`: won since release.
    public var salesTotal: Int?
    /// `audiCnt`: tickets of this day or week.
    public var audience: Int?
    /// `audiInten`
    public var audienceIncrease: Int?
    /// `audiChange`, in percent.
    public var audienceChange: Double?
    /// `audiAcc`: tickets since release.
    public var audienceTotal: Int?
    /// `scrnCnt`
    public var screens: Int?
    /// `showCnt`
    public var shows: Int?
}

extension BoxOfficeRow: Decodable {
    private enum CodingKeys: String, CodingKey {
        case line = "rnum"
        case rank
        case rankChange = "rankInten"
        case entry = "rankOldAndNew"
        case code = "movieCd"
        case name = "movieNm"
        case released = "openDt"
        case sales = "salesAmt"
        case salesShare
        case salesIncrease = "salesInten"
        case salesChange
        case salesTotal = "salesAcc"
        case audience = "audiCnt"
        case audienceIncrease = "audiInten"
        case audienceChange = "audiChange"
        case audienceTotal = "audiAcc"
        case screens = "scrnCnt"
        case shows = "showCnt"
    }

    public init(from decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: CodingKeys.self)
        code = try row.requiredText(.code)
        name = try row.requiredText(.name)
        rank = try row.requiredNumber(.rank)
        line = try row.number(.line)
        rankChange = try row.number(.rankChange)
        entry = try row.text(.entry).flatMap(Entry.init)
        released = try row.day(.released)
        sales = try row.number(.sales)
        salesShare = try row.number(.salesShare, Double.self)
        salesIncrease = try row.number(.salesIncrease)
        salesChange = try row.number(.salesChange, Double.self)
        salesTotal = try row.number(.salesTotal)
        audience = try row.number(.audience)
        audienceIncrease = try row.number(.audienceIncrease)
        audienceChange = try row.number(.audienceChange, Double.self)
        audienceTotal = try row.number(.audienceTotal)
        screens = try row.number(.screens)
        shows = try row.number(.shows)
    }
}
