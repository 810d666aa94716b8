internal import OnesheetCore

/// Titles from KOBIS's responses. The metadata has KOBIS's own names with typed values.
extension Title {
    init(_ row: BoxOfficeRow) {
        self.init(
            id: row.code, name: row.name, releaseDate: row.released, rank: row.rank,
            metadata: Self.facts([
                "rankInten": row.rankChange.map(JSONValue.integer),
                "rankOldAndNew": row.entry.map { .string($0.rawValue) },
                "salesAmt": row.sales.map(JSONValue.integer),
                "salesShare": row.salesShare.map(JSONValue.number),
                "salesInten": row.salesIncrease.map(JSONValue.integer),
                "salesChange": row.salesChange.map(JSONValue.number),
                "salesAcc": row.salesTotal.map(JSONValue.integer),
                "audiCnt": row.audience.map(JSONValue.integer),
                "audiInten": row.audienceIncrease.map(JSONValue.integer),
                "audiChange": row.audienceChange.map(JSONValue.number),
                "audiAcc": row.audienceTotal.map(JSONValue.integer),
                "scrnCnt": row.screens.map(JSONValue.integer),
                "showCnt": row.shows.map(JSONValue.integer),
            ]))
    }

    init(_ movie: MovieListing) {
        self.init(
            id: movie.code, name: movie.name, originalName: movie.englishName, releaseDate: movie.released,
            metadata: Self.facts([
                "prdtYear": movie.productionYear.map(JSONValue.integer),
                "typeNm": movie.kind.map(JSONValue.string),
                "prdtStatNm": movie.productionStatus.map(JSONValue.string),
                "nationAlt": movie.nations.map(JSONValue.string),
                "genreAlt": movie.genres.map(JSONValue.string),
                "repNationNm": movie.chiefNation.map(JSONValue.string),
                "repGenreNm": movie.chiefGenre.map(JSONValue.string),
                "directors": Self.list(movie.directors.map(Self.person)),
                "companys": Self.list(movie.companies.map(Self.company)),
            ]))
    }

    init(_ info: MovieInfo) {
        self.init(
            id: info.code, name: info.name, originalName: info.originalName ?? info.englishName, releaseDate: info.released,
            metadata: Self.facts([
                "movieNmEn": info.englishName.map(JSONValue.string),
                "showTm": info.minutes.map(JSONValue.integer),
                "prdtYear": info.productionYear.map(JSONValue.integer),
                "prdtStatNm": info.productionStatus.map(JSONValue.string),
                "typeNm": info.kind.map(JSONValue.string),
                "nations": Self.list(info.nations.map(JSONValue.string)),
                "genres": Self.list(info.genres.map(JSONValue.string)),
                "directors": Self.list(info.directors.map(Self.person)),
                "actors": Self.list(
                    info.actors.map { Self.person($0.person, ["cast": $0.role, "castEn": $0.englishRole]) }),
                "showTypes": Self.list(
                    info.showings.map { Self.object(["showTypeGroupNm": $0.group, "showTypeNm": $0.name]) }),
                "companys": Self.list(info.companies.map(Self.company)),
                "audits": Self.list(info.ratings.map { Self.object(["auditNo": $0.number, "watchGradeNm": $0.grade]) }),
                "staffs": Self.list(info.staff.map { Self.person($0.person, ["staffRoleNm": $0.role]) }),
            ]))
    }

    private static func facts(_ facts: [String: JSONValue?]) -> [String: JSONValue] { facts.compactMapValues { $0 } }

    /// `nil` if it is empty.
    private static func list(_ values: [JSONValue]) -> JSONValue? { values.isEmpty ? nil : .array(values) }

    private static func object(_ texts: [String: String?]) -> JSONValue {
        .object(texts.compactMapValues { $0.map(JSONValue.string) })
    }

    private static func person(_ person: MoviePerson) -> JSONValue { Self.person(person, [:]) }

    private static func person(_ person: MoviePerson, _ more: [String: String?]) -> JSONValue {
        object(more.merging(["peopleNm": person.name, "peopleNmEn": person.englishName]) { _, new in new })
    }

    private static func company(_ company: MovieCompany) -> JSONValue {
        object([
            "companyCd": company.code, "companyNm": company.name, "companyNmEn": company.englishName, "companyPartNm": company.part,
        ])
    }
}
