public import OnesheetCore

/// A film in the results of a search: `searchMovieList`.
public struct MovieListing: Sendable, Equatable {
    /// `movieCd`: may hold letters (“2023C168”).
    public var code: String
    /// `movieNm`
    public var name: String
    /// `movieNmEn`
    public var englishName: String?
    /// `prdtYear`
    public var productionYear: Int?
    /// `openDt`; `nil` for a film without a release.
    public var released: CalendarDay?
    /// `typeNm`
    public var kind: String?
    /// `prdtStatNm`
    public var productionStatus: String?
    /// `nationAlt`: all nations in one text.
    public var nations: String?
    /// `genreAlt`: all genres in one text.
    public var genres: String?
    /// `repNationNm`
    public var chiefNation: String?
    /// `repGenreNm`
    public var chiefGenre: String?
    public var directors: [MoviePerson]
    /// `companys[]`
    public var companies: [MovieCompany]
}

extension MovieListing: Decodable {
    private enum CodingKeys: String, CodingKey {
        case code = "movieCd"
        case name = "movieNm"
        case englishName = "movieNmEn"
        case productionYear = "prdtYear"
        case released = "openDt"
        case kind = "typeNm"
        case productionStatus = "prdtStatNm"
        case nations = "nationAlt"
        case genres = "genreAlt"
        case chiefNation = "repNationNm"
        case chiefGenre = "repGenreNm"
        case directors
        case companies = "companys"
    }

    public init(from decoder: any Decoder) throws {
        let movie = try decoder.container(keyedBy: CodingKeys.self)
        code = try movie.requiredText(.code)
        name = try movie.requiredText(.name)
        englishName = try movie.text(.englishName)
        productionYear = try movie.number(.productionYear)
        released = try movie.day(.released)
        kind = try movie.text(.kind)
        productionStatus = try movie.text(.productionStatus)
        nations = try movie.text(.nations)
        genres = try movie.text(.genres)
        chiefNation = try movie.text(.chiefNation)
        chiefGenre = try movie.text(.chiefGenre)
        directors = try movie.list(.directors)
        companies = try movie.list(.companies)
    }
}
