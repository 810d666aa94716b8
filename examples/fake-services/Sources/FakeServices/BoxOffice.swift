/// Imitates KOBIS: every value is a text, and errors have status 200.
struct BoxOffice: Sendable {
    let fault: Fault?

    func answer(_ request: Request) throws -> Answer {
        switch (fault, request.query["key"]) {
        case (.key, _), (_, "bad"), (_, nil), (_, ""): return try refusal("320010", "유효하지않은 키값입니다.")
        case (.quota, _), (_, "exhausted"): return try refusal("320011", "일일 호출 허용량을 초과하였습니다.")
        default: break
        }
        switch request.path.last {
        case "searchDailyBoxOfficeList.json": return try list(request, isWeekly: false)
        case "searchWeeklyBoxOfficeList.json": return try list(request, isWeekly: true)
        case "searchMovieInfo.json": return try info(request)
        case "searchMovieList.json": return try search(request)
        default: return .missing
        }
    }

    private func refusal(_ code: String, _ message: String) throws -> Answer {
        try .json(["faultInfo": ["message": .text(message), "errorCode": .text(code)]])
    }

    private func list(_ request: Request, isWeekly: Bool) throws -> Answer {
        guard let day = request.query["targetDt"], day.utf8.count == 8, let seed = Int(day) else {
            return try refusal("320102", "targetDt 값은 필수입니다.")
        }
        let count = min(10, request.query["itemPerPage"].flatMap { Int($0) } ?? 10)
        let rows = (0..<count).map { place in row(place, seed: seed) }
        if isWeekly {
            let kind = request.query["weekGb"] == "0" ? "주간 박스오피스" : "주말 박스오피스"
            return try .json([
                "boxOfficeResult": [
                    "boxofficeType": .text(kind), "showRange": .text("\(day)~\(day)"), "yearWeekTime": .text("\(day.prefix(4))01"),
                    "weeklyBoxOfficeList": .list(rows),
                ]
            ])
        }
        return try .json([
            "boxOfficeResult": [
                "boxofficeType": "일별 박스오피스", "showRange": .text("\(day)~\(day)"), "dailyBoxOfficeList": .list(rows),
            ]
        ])
    }

    private func row(_ place: Int, seed: Int) -> JSON {
        // Two steps a day, so that a list resembles those of the neighbouring days.
        let film = Film.all[(place * 3 + seed % 31 * 2) % Film.all.count]
        let audience = 420_000 / (place + 1) + seed % 97 * 131
        let total = audience * (5 + film.number % 9)
        func text(_ number: Int) -> JSON { .text(String(number)) }
        return [
            "rnum": text(place + 1), "rank": text(place + 1), "rankInten": text((film.number + seed) % 5 - 2),
            "rankOldAndNew": .text((film.number + seed).isMultiple(of: 6) ? "NEW" : "OLD"), "movieCd": .text(film.code),
            "movieNm": .text(film.name), "openDt": .text(dashed(film.released)), "salesAmt": text(audience * 9870),
            "salesShare": .text("\(36 / (place + 1)).\(film.number % 10)"), "salesInten": text(audience * -300),
            "salesChange": .text("-\(film.number % 20).5"), "salesAcc": text(total * 9700), "audiCnt": text(audience),
            "audiInten": text(-audience / 9), "audiChange": .text("-\(film.number % 15)"), "audiAcc": text(total),
            "scrnCnt": text(900 / (place + 1) + 40), "showCnt": text(4200 / (place + 1) + 90),
        ]
    }

    private func info(_ request: Request) throws -> Answer {
        guard let film = Film.all.first(where: { $0.code == request.query["movieCd"] }) else {
            return try .json(["movieInfoResult": ["movieInfo": ["movieCd": "", "movieNm": "", "actors": []], "source": "영화진흥위원회"]])
        }
        let people: JSON = .list(
            (1...4).map {
                ["peopleNm": .text("배우 \($0)"), "peopleNmEn": .text("ACTOR \($0)"), "cast": .text("역할 \($0)"), "castEn": ""]
            })
        return try .json([
            "movieInfoResult": [
                "movieInfo": [
                    "movieCd": .text(film.code), "movieNm": .text(film.name), "movieNmEn": .text(film.englishName), "movieNmOg": "",
                    "showTm": .text(String(film.minutes)), "prdtYear": "2026", "openDt": .text(film.released), "prdtStatNm": "개봉",
                    "typeNm": "장편", "nations": [["nationNm": "한국"]], "genres": [["genreNm": .text(film.genre)]],
                    "directors": [["peopleNm": .text("감독 \(film.number)"), "peopleNmEn": .text("DIRECTOR \(film.number)")]],
                    "actors": people, "showTypes": [["showTypeGroupNm": "2D", "showTypeNm": "디지털"]],
                    "companys": [["companyCd": "20260001", "companyNm": "제작사", "companyNmEn": "Makers", "companyPartNm": "제작사"]],
                    "audits": [["auditNo": .text("2026-MF\(film.number)"), "watchGradeNm": "전체관람가"]],
                    "staffs": [["peopleNm": "스태프", "peopleNmEn": "STAFF", "staffRoleNm": "촬영"]],
                ], "source": "영화진흥위원회",
            ]
        ])
    }

    private func search(_ request: Request) throws -> Answer {
        let phrase = request.query["movieNm"] ?? ""
        let found = Film.all.filter { phrase.isEmpty || $0.name.contains(phrase) }
        let page = max(1, request.query["curPage"].flatMap { Int($0) } ?? 1)
        let size = min(100, max(1, request.query["itemPerPage"].flatMap { Int($0) } ?? 10))
        let films = found.dropFirst(min(found.count, (page - 1) * size)).prefix(size).map { film -> JSON in
            [
                "movieCd": .text(film.code), "movieNm": .text(film.name), "movieNmEn": .text(film.englishName), "prdtYear": "2026",
                "openDt": .text(film.released), "typeNm": "장편", "prdtStatNm": "개봉", "nationAlt": "한국",
                "genreAlt": .text(film.genre),
                "repNationNm": "한국", "repGenreNm": .text(film.genre), "directors": [["peopleNm": .text("감독 \(film.number)")]],
                "companys": [],
            ]
        }
        return try .json([
            "movieListResult": ["totCnt": .number(found.count), "source": "영화진흥위원회", "movieList": .list(Array(films))]
        ])
    }

    private func dashed(_ day: String) -> String {
        day.isEmpty ? "" : "\(day.prefix(4))-\(day.dropFirst(4).prefix(2))-\(day.suffix(2))"
    }
}
