/// Imitates TMDB: films in Korean, English and the original language, with images. It lacks every fifth film.
struct TMDB: Sendable {
    let fault: Fault?

    func answer(_ request: Request) throws -> Answer {
        if fault == .key || ["", "Bearer ", "Bearer bad"].contains(request.authorization ?? "") {
            return try .json(
                ["status_code": 7, "status_message": "Invalid API key: You must be granted a valid key."], status: 401)
        }
        if fault == .quota {
            return try .json(["status_code": 25, "status_message": "Your request count is over the limit."], status: 429)
        }
        let path = Array(request.path.dropFirst())
        let language = String((request.query["language"] ?? "en").prefix(2))
        if path == ["search", "movie"] || path == ["movie", "now_playing"] {
            let found = films(request.query["query"]).map { JSON.object(facts($0, in: language)) }
            return try .json(["page": 1, "results": .list(found), "total_pages": 1, "total_results": .number(found.count)])
        }
        if path.count == 2, path[0] == "find" {
            let isIMDb = request.query["external_source"] == "imdb_id"
            let found = films(nil).filter { isIMDb && $0.imdb == path[1] }
            return try .json([
                "movie_results": .list(found.map { .object(facts($0, in: language)) }), "person_results": [], "tv_results": [],
                "tv_episode_results": [], "tv_season_results": [],
            ])
        }
        if path.count == 3, path[0] == "genre", path[2] == "list" {
            let genres = Self.genres.map { genre($0.korean, in: language) }
            return try .json(["genres": .list(path[1] == "movie" ? genres : [])])
        }
        let missing: JSON = ["success": false, "status_code": 34, "status_message": "The resource could not be found."]
        guard path.first == "movie", (2...3).contains(path.count),
            let film = films(nil).first(where: { $0.tmdbID == path[1] })
        else { return try .json(missing, status: 404) }
        if path.count == 3 {
            guard var part = part(path[2], of: film) else { return try .json(missing, status: 404) }
            part["id"] = .number(film.tmdb)
            return try .json(.object(part))
        }
        var details = facts(film, in: language)
        details["runtime"] = .number(film.minutes)
        details["genres"] = .list([genre(film.genre, in: language)])
        details["imdb_id"] = .text(film.imdb)
        for name in (request.query["append_to_response"] ?? "").split(separator: ",").map(String.init) {
            if let part = part(name, of: film) { details[name] = .object(part) }
        }
        return try .json(.object(details))
    }

    private static let genres: [(korean: String, english: String)] = [
        ("판타지", "Fantasy"), ("드라마", "Drama"), ("미스터리", "Mystery"), ("애니메이션", "Animation"),
        ("뮤지컬", "Musical"), ("범죄", "Crime"), ("코미디", "Comedy"), ("스릴러", "Thriller"), ("다큐멘터리", "Documentary"),
        ("액션", "Action"), ("가족", "Family"), ("어드벤처", "Adventure"), ("로맨스", "Romance"),
    ]

    private func genre(_ korean: String, in language: String) -> JSON {
        let number = Self.genres.firstIndex { $0.korean == korean } ?? 0
        let name = language == "ko" ? korean : Self.genres[number].english
        return ["id": .number(number + 1), "name": .text(name)]
    }

    private func films(_ phrase: String?) -> [Film] {
        Film.all.filter(\.isAtTMDB).filter { film in
            phrase.map { film.name.contains($0) || film.englishName.lowercased().contains($0.lowercased()) } ?? true
        }
    }

    private func facts(_ film: Film, in language: String) -> [String: JSON] {
        [
            "id": .number(film.tmdb), "title": .text(film.name(in: language)), "original_title": .text(film.originalName),
            "original_language": .text(film.language), "overview": .text(film.overview(in: language)),
            "release_date": .text(film.dashedRelease),
        ]
    }

    /// What has an address of its own, and can be appended to the film.
    private func part(_ name: String, of film: Film) -> [String: JSON]? {
        switch name {
        case "images":
            [
                "posters": .list(film.posterLanguages.map { image(film, $0, "800x1200", votes: $0 == "ko" ? 3 : 5) }),
                "backdrops": .list([image(film, nil, "1280x720", votes: 5)]), "logos": .list([]),
            ]
        case "translations":
            [
                "translations": .list(
                    [("en", "US"), ("ko", "KR")].map { language, region in
                        // An empty text is that of the original language.
                        let name = film.language == language ? "" : film.name(in: language)
                        let texts: JSON = ["title": .text(name), "overview": .text(film.overview(in: language)), "tagline": ""]
                        return ["iso_639_1": .text(language), "iso_3166_1": .text(region), "data": texts]
                    })
            ]
        case "external_ids": ["imdb_id": .text(film.imdb)]
        default: nil
        }
    }

    private func image(_ film: Film, _ language: String?, _ size: String, votes: Int) -> JSON {
        let sides = size.split(separator: "x").compactMap { Int($0) }
        return [
            "file_path": .text("/\(film.code)/\(size)/\(language ?? "none").jpg"), "iso_639_1": language.map { .text($0) } ?? .null,
            "vote_average": .number(votes), "vote_count": 9, "width": .number(sides[0]), "height": .number(sides[1]),
        ]
    }
}

extension Film {
    var tmdb: Int { 900_000 + number }
    var tmdbID: String { "\(tmdb)" }
    var imdb: String { "tt99\(10_000 + number)" }
    var isAtTMDB: Bool { !number.isMultiple(of: 5) }

    /// The languages of TMDB's posters: not every film has one in Korean, or in its own language.
    fileprivate var posterLanguages: [String?] {
        var languages: [String?] = ["en", nil]
        if language == "ja", !number.isMultiple(of: 8) { languages.append("ja") }
        if language == "ko", !number.isMultiple(of: 3) { languages.append("ko") }
        return languages
    }

    /// The name in a language that TMDB has, otherwise the original one.
    fileprivate func name(in wanted: String) -> String {
        switch wanted {
        case "ko": name
        case "en": englishName
        default: originalName
        }
    }

    fileprivate func overview(in wanted: String) -> String {
        switch wanted {
        case "ko": "\(name)의 이야기."
        case "ja": language == "ja" ? "\(originalName)の物語。" : ""
        default: "The story of \(englishName)."
        }
    }
}
