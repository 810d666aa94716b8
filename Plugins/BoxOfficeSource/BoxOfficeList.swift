internal import OnesheetCore

/// A daily or weekly list from KOBIS.
public struct BoxOfficeList: Sendable, Equatable {
    /// `boxofficeType`: “일별 박스오피스”.
    public var kind: String
    /// `showRange`: “20120101~20120101”.
    public var range: String
    /// `yearWeekTime`, of weekly lists: year and week of the year, “201152”.
    public var week: String?
    /// The films by rank.
    public var rows: [BoxOfficeRow]
    /// Why rows are missing: one reason for each that cannot be read.
    public var damage: [String] = []
}

extension BoxOfficeList: Decodable {
    private enum CodingKeys: String, CodingKey {
        case kind = "boxofficeType"
        case range = "showRange"
        case week = "yearWeekTime"
        case daily = "dailyBoxOfficeList"
        case weekly = "weeklyBoxOfficeList"
    }

    public init(from decoder: any Decoder) throws {
        let list = try decoder.container(keyedBy: CodingKeys.self)
        kind = try list.text(.kind) ?? ""
        range = try list.text(.range) ?? ""
        week = try list.text(.week)
        // One of the two must be present: a response without both is not a list.
        let key: CodingKeys = list.contains(.weekly) ? .weekly : .daily
        (rows, damage) = try list.decode(ReadableList<BoxOfficeRow>.self, forKey: key).parts
    }
}

/// KOBIS `searchDailyBoxOfficeList` and `searchWeeklyBoxOfficeList`.
struct BoxOfficeListEnvelope: Decodable {
    var boxOfficeResult: BoxOfficeList
}

/// KOBIS `searchMovieInfo`.
struct MovieInfoEnvelope: Decodable {
    struct Result: Decodable {
        /// `nil` or without a code if there is no such film.
        var movieInfo: MovieInfo?

        private enum CodingKeys: CodingKey { case movieInfo }
        private enum InfoKeys: CodingKey { case movieCd }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard container.contains(.movieInfo), try !container.decodeNil(forKey: .movieInfo) else { return }
            let info = try container.nestedContainer(keyedBy: InfoKeys.self, forKey: .movieInfo)
            guard try info.text(.movieCd) != nil else { return }
            movieInfo = try container.decode(MovieInfo.self, forKey: .movieInfo)
        }
    }

    var movieInfoResult: Result
}

/// KOBIS `searchMovieList`.
struct MovieListEnvelope: Decodable {
    struct Result: Decodable {
        var total: Int
        var movies: [MovieListing]
        var damage: [String]

        private enum CodingKeys: String, CodingKey {
            case total = "totCnt"
            case movies = "movieList"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            total = try container.requiredNumber(.total)
            (movies, damage) = try container.decode(ReadableList<MovieListing>.self, forKey: .movies).parts
        }
    }

    var movieListResult: Result
}

/// An error that KOBIS returns with status 200.
struct FaultEnvelope: Decodable {
    struct Fault: Decodable {
        var message: String
        var errorCode: String
    }

    var faultInfo: Fault?
}
