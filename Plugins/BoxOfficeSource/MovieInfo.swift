public import OnesheetCore

/// All data of KOBIS about a film: `searchMovieInfo`.
public struct MovieInfo: Sendable, Equatable {
    /// `movieCd`
    public var code: String
    /// `movieNm`
    public var name: String
    /// `movieNmEn`
    public var englishName: String?
    /// `movieNmOg`
    public var originalName: String?
    /// `showTm`, in minutes.
    public var minutes: Int?
    /// `prdtYear`
    public var productionYear: Int?
    /// `openDt`
    public var released: CalendarDay?
    /// `prdtStatNm`: “개봉”.
    public var productionStatus: String?
    /// `typeNm`: “장편”.
    public var kind: String?
    /// `nations[].nationNm`
    public var nations: [String]
    /// `genres[].genreNm`
    public var genres: [String]
    public var directors: [MoviePerson]
    public var actors: [MovieActor]
    /// `showTypes[]`
    public var showings: [MovieShowing]
    /// `companys[]`
    public var companies: [MovieCompany]
    /// `audits[]`
    public var ratings: [MovieRating]
    /// `staffs[]`
    public var staff: [MovieStaff]
}

extension MovieInfo: Decodable {
    private enum CodingKeys: String, CodingKey {
        case code = "movieCd"
        case name = "movieNm"
        case englishName = "movieNmEn"
        case originalName = "movieNmOg"
        case minutes = "showTm"
        case productionYear = "prdtYear"
        case released = "openDt"
        case productionStatus = "prdtStatNm"
        case kind = "typeNm"
        case nations, genres, directors, actors
        case showings = "showTypes"
        case companies = "companys"
        case ratings = "audits"
        case staff = "staffs"
    }

    private struct Nation: Decodable { var nationNm: String }
    private struct Genre: Decodable { var genreNm: String }

    public init(from decoder: any Decoder) throws {
        let info = try decoder.container(keyedBy: CodingKeys.self)
        code = try info.requiredText(.code)
        name = try info.requiredText(.name)
        englishName = try info.text(.englishName)
        originalName = try info.text(.originalName)
        minutes = try info.number(.minutes)
        productionYear = try info.number(.productionYear)
        released = try info.day(.released)
        productionStatus = try info.text(.productionStatus)
        kind = try info.text(.kind)
        nations = try info.list(.nations, of: Nation.self).map(\.nationNm.trimmed).filter { !$0.isEmpty }
        genres = try info.list(.genres, of: Genre.self).map(\.genreNm.trimmed).filter { !$0.isEmpty }
        directors = try info.list(.directors)
        actors = try info.list(.actors)
        showings = try info.list(.showings)
        companies = try info.list(.companies)
        ratings = try info.list(.ratings)
        staff = try info.list(.staff)
    }
}
