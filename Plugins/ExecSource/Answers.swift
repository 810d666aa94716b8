internal import OnesheetCore

/// A title as programs write it: all but `id` and `name` may be left out.
struct TitleAnswer: Decodable {
    var id: String
    var name: String
    var originalName: String?
    var overview: String?
    var releaseDate: CalendarDay?
    var rank: Int?
    var metadata: [String: JSONValue]?

    var title: Title {
        Title(
            id: id, name: name, originalName: originalName, overview: overview, releaseDate: releaseDate, rank: rank,
            metadata: metadata ?? [:])
    }

    struct Page: Decodable {
        var titles: [TitleAnswer]
        var total: Int?
        var next: Int?

        var page: TitlePage { TitlePage(titles: titles.map(\.title), total: total, next: next) }
    }
}

/// A candidate as programs write it: all but `url` may be left out.
struct CandidateAnswer: Decodable {
    var url: String
    var width: Int?
    var height: Int?
    var site: String?
    var page: String?
    var published: String?

    var candidate: PosterCandidate {
        PosterCandidate(
            .http(url: url), width: width, height: height, site: site, page: page,
            published: published.flatMap(PosterCandidate.moment))
    }

    struct List: Decodable {
        var candidates: [CandidateAnswer]
    }
}
