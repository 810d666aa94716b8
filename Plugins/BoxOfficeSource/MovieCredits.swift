/// A person's name in KOBIS: `peopleNm`, `peopleNmEn`.
public struct MoviePerson: Sendable, Equatable, Decodable {
    /// The Korean name.
    public var name: String
    /// The name in Latin letters.
    public var englishName: String?

    enum CodingKeys: String, CodingKey {
        case name = "peopleNm"
        case englishName = "peopleNmEn"
    }

    public init(from decoder: any Decoder) throws {
        let person = try decoder.container(keyedBy: CodingKeys.self)
        name = try person.text(.name) ?? ""
        englishName = try person.text(.englishName)
    }
}

/// One of `actors[]`.
public struct MovieActor: Sendable, Equatable, Decodable {
    public var person: MoviePerson
    /// `cast`: the role.
    public var role: String?
    /// `castEn`
    public var englishRole: String?

    private enum CodingKeys: String, CodingKey {
        case role = "cast"
        case englishRole = "castEn"
    }

    public init(from decoder: any Decoder) throws {
        person = try MoviePerson(from: decoder)
        let actor = try decoder.container(keyedBy: CodingKeys.self)
        role = try actor.text(.role)
        englishRole = try actor.text(.englishRole)
    }
}

/// One of `staffs[]`.
public struct MovieStaff: Sendable, Equatable, Decodable {
    public var person: MoviePerson
    /// `staffRoleNm`
    public var role: String?

    private enum CodingKeys: String, CodingKey { case role = "staffRoleNm" }

    public init(from decoder: any Decoder) throws {
        person = try MoviePerson(from: decoder)
        role = try decoder.container(keyedBy: CodingKeys.self).text(.role)
    }
}

/// One of `showTypes[]`: a format of projection.
public struct MovieShowing: Sendable, Equatable, Decodable {
    /// `showTypeGroupNm`: “2D”.
    public var group: String?
    /// `showTypeNm`: “디지털”.
    public var name: String?

    private enum CodingKeys: String, CodingKey {
        case group = "showTypeGroupNm"
        case name = "showTypeNm"
    }

    public init(from decoder: any Decoder) throws {
        let showing = try decoder.container(keyedBy: CodingKeys.self)
        group = try showing.text(.group)
        name = try showing.text(.name)
    }
}

/// One of `companys[]`.
public struct MovieCompany: Sendable, Equatable, Decodable {
    /// `companyCd`
    public var code: String?
    /// `companyNm`
    public var name: String?
    /// `companyNmEn`
    public var englishName: String?
    /// `companyPartNm`: “배급사”.
    public var part: String?

    private enum CodingKeys: String, CodingKey {
        case code = "companyCd"
        case name = "companyNm"
        case englishName = "companyNmEn"
        case part = "companyPartNm"
    }

    public init(from decoder: any Decoder) throws {
        let company = try decoder.container(keyedBy: CodingKeys.self)
        code = try company.text(.code)
        name = try company.text(.name)
        englishName = try company.text(.englishName)
        part = try company.text(.part)
    }
}

/// One of `audits[]`: an age rating.
public struct MovieRating: Sendable, Equatable, Decodable {
    /// `auditNo`
    public var number: String?
    /// `watchGradeNm`: “15세이상관람가”.
    public var grade: String?

    private enum CodingKeys: String, CodingKey {
        case number = "auditNo"
        case grade = "watchGradeNm"
    }

    public init(from decoder: any Decoder) throws {
        let rating = try decoder.container(keyedBy: CodingKeys.self)
        number = try rating.text(.number)
        grade = try rating.text(.grade)
    }
}
