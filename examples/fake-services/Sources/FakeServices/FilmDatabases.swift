/// Imitates three databases of films and their pictures: TMDB, fanart.tv and KMDb. Each lacks some films and some languages.
struct FilmDatabases: Sendable {
    let fault: Fault?
    /// The address of the pictures: `http://127.0.0.1:9090`.
    let address: String

    func tmdb(_ request: Request) throws -> Answer {
        if fault == .key || ["", "Bearer ", "Bearer bad"].contains(request.authorization ?? "") {
            return try .json(
                ["status_code": 7, "status_message": "Invalid API key: You must be granted a valid key."], status: 401)
        }
        if fault == .quota {
            return try .json(["status_code": 25, "status_message": "Your request count is over the limit."], status: 429)
        }
        let films = Film.all.filter(\.isAtTMDB)
        let path = request.path.dropFirst()
        if path == ["search", "movie"] || path == ["movie", "now_playing"] {
            let phrase = request.query["query"]
            let found = films.filter { film in
                phrase.map { film.name.contains($0) || film.englishName.lowercased().contains($0.lowercased()) } ?? true
            }
            return try .json([
                "page": 1, "results": .list(found.map { facts($0) }), "total_pages": 1, "total_results": .number(found.count),
            ])
        }
        guard path.first == "movie", path.count <= 3, let film = films.first(where: { String($0.tmdb) == path.dropFirst().first })
        else {
            return try .json(
                ["success": false, "status_code": 34, "status_message": "The resource could not be found."], status: 404)
        }
        guard path.last == "images" else { return try .json(facts(film)) }
        return try .json([
            "id": .number(film.tmdb),
            "posters": .list(film.posterLanguages.map { picture(film, $0, "800x1200", votes: $0 == "ko" ? 3 : 5) }),
            "backdrops": .list([picture(film, nil, "1280x720", votes: 5)]), "logos": .list([]),
        ])
    }

    /// A film as TMDB tells it in Korean.
    private func facts(_ film: Film) -> JSON {
        [
            "id": .number(film.tmdb), "title": .text(film.name), "original_title": .text(film.originalName),
            "original_language": .text(film.language), "overview": .text("\(film.name)의 이야기."),
            "release_date": .text(film.dashedRelease),
            "runtime": .number(film.minutes), "genres": [["id": 1, "name": .text(film.genre)]],
            "imdb_id": .text("tt99\(10_000 + film.number)"),
        ]
    }

    private func picture(_ film: Film, _ language: String?, _ size: String, votes: Int) -> JSON {
        let sides = size.split(separator: "x").compactMap { Int($0) }
        return [
            "file_path": .text("/\(film.code)/\(size)/\(language ?? "none").jpg"), "iso_639_1": language.map { .text($0) } ?? .null,
            "vote_average": .number(votes), "vote_count": 9, "width": .number(sides[0]), "height": .number(sides[1]),
        ]
    }

    func fanart(_ request: Request) throws -> Answer {
        let film = Film.all.first { request.path.dropFirst() == ["movies", String($0.tmdb)] && $0.number.isMultiple(of: 2) }
        guard let film else { return try .json(["status": "error", "error message": "Not found"], status: 404) }
        func picture(_ name: String, _ language: String, _ size: String) -> JSON {
            let sides = size.split(separator: "x").map { JSON.text(String($0)) }
            return [
                "id": .text("\(film.number)"),
                "url": .text("\(address)/pictures/assets.fanart.tv/\(film.code)/\(size)/\(name).jpg"),
                "lang": .text(language), "likes": "4", "width": sides[0], "height": sides[1],
            ]
        }
        return try .json([
            "name": .text(film.englishName), "tmdb_id": .text(String(film.tmdb)), "imdb_id": .text("tt99\(10_000 + film.number)"),
            "movieposter": .list([picture("en", "en", "1000x1426"), picture("none", "00", "1000x1426")]),
            "hdmovielogo": .list([picture("logo", "ko", "800x310")]),
            "moviebackground": .list([picture("background", "", "1920x1080")]),
        ])
    }

    func kmdb(_ request: Request) throws -> Answer {
        if fault == .quota { return .html("일일 트래픽을 초과하였습니다.", status: 503) }
        let films = Film.all.filter(\.isAtKMDb).filter { film in
            if let phrase = request.query["title"] { return film.name.contains(phrase) }
            return request.query["movieId"] == "K" && request.query["movieSeq"] == String(10_000 + film.number)
        }
        let rows = films.map { film -> JSON in
            [
                "movieId": "K", "movieSeq": .text(String(10_000 + film.number)), "title": .text(" !HS \(film.name) !HE "),
                "titleEng": .text(film.englishName), "titleOrg": "", "prodYear": "2026", "repRlsDate": .text(film.released),
                "directors": ["director": [["directorNm": .text("감독 \(film.number)")]]], "nation": "대한민국",
                "genre": .text(film.genre),
                "runtime": .text(String(film.minutes)), "plots": ["plot": [["plotText": .text("\(film.name)의 이야기.")]]],
                "posters": .text("\(address)/pictures/file.koreafilm.or.kr/thm/02/\(film.code)/700x1000/tn_ko.jpg"), "stlls": "",
            ]
        }
        var data: [String: JSON] = ["CollName": "kmdb_new2", "TotalCount": .number(rows.count), "Count": .number(rows.count)]
        if !rows.isEmpty { data["Result"] = .list(rows) }
        return try .json(["TotalCount": .number(rows.count), "Data": .list([.object(data)])])
    }
}

extension Film {
    /// TMDB lacks every fifth film, and KMDb has only Korean ones of these and some others.
    var isAtTMDB: Bool { !number.isMultiple(of: 5) }
    var isAtKMDb: Bool { language == "ko" && !number.isMultiple(of: 3) }
    var tmdb: Int { 900_000 + number }
    /// Every fourth film is Japanese.
    var language: String { number.isMultiple(of: 4) ? "ja" : "ko" }
    var originalName: String { language == "ja" ? "映画\(number)" : name }
    /// The languages of TMDB's posters: not every film has one in Korean, or in its own language.
    var posterLanguages: [String?] {
        var languages: [String?] = ["en", nil]
        if language == "ja", !number.isMultiple(of: 8) { languages.append("ja") }
        if language == "ko", !number.isMultiple(of: 3) { languages.append("ko") }
        return languages
    }
    var dashedRelease: String {
        released.isEmpty ? "" : "\(released.prefix(4))-\(released.dropFirst(4).prefix(2))-\(released.suffix(2))"
    }
}
