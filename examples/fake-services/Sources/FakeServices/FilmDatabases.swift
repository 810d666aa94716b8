/// Imitates two databases of films and their images: fanart.tv and KMDb. Each lacks some films and some languages.
struct FilmDatabases: Sendable {
    let fault: Fault?
    /// The address of the pictures: `http://127.0.0.1:9090`.
    let address: String

    func fanart(_ request: Request) throws -> Answer {
        let film = Film.all.first { film in
            film.number.isMultiple(of: 2) && [film.tmdbID, film.imdb].contains { request.path.dropFirst() == ["movies", $0] }
        }
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
            "name": .text(film.englishName), "tmdb_id": .text(film.tmdbID), "imdb_id": .text(film.imdb),
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
    /// KMDb has only Korean films, those that TMDB lacks among them, and not all.
    var isAtKMDb: Bool { language == "ko" && !number.isMultiple(of: 3) }
    /// Every fourth film is Japanese.
    var language: String { number.isMultiple(of: 4) ? "ja" : "ko" }
    var originalName: String { language == "ja" ? "映画\(number)" : name }
    var dashedRelease: String {
        released.isEmpty ? "" : "\(released.prefix(4))-\(released.dropFirst(4).prefix(2))-\(released.suffix(2))"
    }
}
