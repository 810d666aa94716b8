internal import OnesheetCore

/// A description of an HTTP API: the requests, and the places of the facts in the responses.
struct Manifest: Sendable, Decodable {
    /// The base URL of requests that begin with a slash.
    var baseURL: String
    /// Headers of every request; `{name}` stands for a variable.
    var headers: [String: Phrase]?
    /// Default values of variables.
    var defaults: [String: String]?
    /// Rules for errors. The first matching one applies.
    var faults: [FaultRule]?
    var quota: Quota?
    var dates: Dates?
    /// The list of the source.
    var list: ListRequest?
    /// Lists by `week`, `weekend` and `weekdays`, which cover more than a day.
    var periods: Periods?
    /// A search for titles. The phrase is the variable `query`.
    var search: ListRequest?
    var title: TitleRequest
    var candidates: CandidatesRequest

    /// The quota of calls.
    struct Quota: Sendable, Decodable {
        var settings: QuotaSettings
        /// The time zone of the reset at midnight.
        var timeZone: ZoneOffset?

        private enum CodingKeys: CodingKey { case timeZone }

        init(from decoder: any Decoder) throws {
            settings = try QuotaSettings(from: decoder)
            timeZone = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(ZoneOffset.self, forKey: .timeZone)
        }
    }

    /// Lists by day. The day is the variable `date` (2026-11-20) and `day` (20261120).
    struct Dates: Sendable, Decodable {
        /// The newest list is this many days after today: −1 is yesterday's.
        var newest: Int
        var timeZone: ZoneOffset?
        var first: CalendarDay?
    }

    /// Lists of the week of a day, of its weekend, or of the days before it.
    struct Periods: Sendable, Decodable {
        var week: ListRequest?
        var weekend: ListRequest?
        var weekdays: ListRequest?
    }

    struct ListRequest: Sendable, Decodable {
        var get: URITemplate
        /// The place of the list.
        var items: JSONPointer
        /// The place of the number of titles on all pages.
        var total: JSONPointer?
        /// The place of the number of pages.
        var pages: JSONPointer?
        /// The titles on a full page, if only `total` is known.
        var perPage: Int?
        /// The last page that the service gives out, if it counts more; it refuses those after it.
        var lastPage: Int?
        var fields: TitleFields
    }

    struct TitleRequest: Sendable, Decodable {
        var get: URITemplate
        /// The place of the title; the whole response by default.
        var item: JSONPointer?
        var fields: TitleFields
    }

    struct CandidatesRequest: Sendable, Decodable {
        enum Order: String, Sendable, Decodable {
            /// In the order of the response.
            case given
            /// The most poster-like first.
            case likeness
        }

        var get: URITemplate
        /// Further variables, made from others: `query: "{name} poster"`. `{name}` is the name of the title.
        var with: [String: Phrase]?
        var headers: [String: Phrase]?
        var items: CandidateLists
        var order: Order?
        var fields: CandidateFields
    }
}

/// The place of the candidates: a pointer to one list, or one by kind, `{ poster: /posters, logo: /logos }`. A list that the response does not
/// have is empty if there are several.
struct CandidateLists: Sendable, Decodable {
    let places: [(kind: ImageKind, list: JSONPointer)]

    init(from decoder: any Decoder) throws {
        if case .scalar = try ConfigurationValue(from: decoder) {
            places = [(.poster, try JSONPointer(from: decoder))]
            return
        }
        let container = try decoder.container(keyedBy: Kind.self)
        var places: [(kind: ImageKind, list: JSONPointer)] = []
        for kind in ImageKind.allCases {
            if let list = try container.decodeIfPresent(JSONPointer.self, forKey: Kind(kind: kind)) { places.append((kind, list)) }
        }
        guard !places.isEmpty else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "needs the place of a list, or one by image kind"))
        }
        self.places = places
    }

    private struct Kind: CodingKey {
        let kind: ImageKind
        var stringValue: String { kind.rawValue }
        var intValue: Int? { nil }

        init(kind: ImageKind) { self.kind = kind }
        init?(stringValue: String) {
            guard let kind = ImageKind(rawValue: stringValue) else { return nil }
            self.kind = kind
        }
        init?(intValue: Int) { nil }
    }
}

extension Manifest {
    /// The list for `period`; `nil` if there is none.
    func list(by period: TitleQuery.Period) -> ListRequest? {
        switch period {
        case .day: list
        case .week: periods?.week
        case .weekend: periods?.weekend
        case .weekdays: periods?.weekdays
        }
    }
}

/// A text with variables: `Bearer {token}`. Unlike a template, it escapes nothing.
struct Phrase: Sendable, Decodable {
    let text: String
    private let template: URITemplate

    var names: Set<String> { template.names }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard let template = URITemplate(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” has an unmatched brace")
        }
        self.template = template
    }

    func filled(_ values: [String: String]) -> String {
        template.parts.map { part in
            switch part {
            case .literal(let text): text
            case .expression(_, let variables): variables.compactMap { values[$0.name] }.joined()
            }
        }.joined()
    }
}

extension Manifest.CandidatesRequest {
    /// Whether the request contains the title's name, which costs a call for the title.
    var needsName: Bool { self.get.names.contains("name") || with?.values.contains { $0.names.contains("name") } ?? false }
}

extension Manifest {
    /// - Throws: `ConfigurationError` for the first undefined variable.
    func check(given: [String: String]) throws(ConfigurationError) {
        let given = Set(given.keys)
        let forLists = given.union(dates == nil ? ["page"] : ["page", "date", "day"])
        let forCandidates = given.union(["id", "name"])
        try Self.check(headers?.values.reduce(into: Set()) { $0.formUnion($1.names) } ?? [], at: "headers", known: given)
        for period in TitleQuery.Period.allCases {
            let path = period == .day ? "list.get" : "periods.\(period.rawValue).get"
            try Self.check(list(by: period)?.get.names ?? [], at: path, known: forLists)
        }
        for (path, request) in [
            ("list", list), ("search", search), ("periods.week", periods?.week), ("periods.weekend", periods?.weekend),
            ("periods.weekdays", periods?.weekdays),
        ] {
            for (key, number) in [("perPage", request?.perPage), ("lastPage", request?.lastPage)] {
                guard let number, number < 1 else { continue }
                throw ConfigurationError(path: "\(path).\(key)", message: "needs a number from 1")
            }
        }
        try Self.check(search?.get.names ?? [], at: "search.get", known: given.union(["query", "page"]))
        try Self.check(title.get.names, at: "title.get", known: given.union(["id"]))
        try Self.check(
            candidates.headers?.values.reduce(into: Set()) { $0.formUnion($1.names) } ?? [], at: "candidates.headers", known: given)
        for (name, phrase) in candidates.with ?? [:] {
            try Self.check(phrase.names, at: "candidates.with.\(name)", known: forCandidates)
        }
        try Self.check(
            candidates.get.names, at: "candidates.get", known: forCandidates.union(candidates.with?.keys.map { $0 } ?? []))
        try Self.check(candidates.fields.prefix?.names ?? [], at: "candidates.fields.prefix", known: forCandidates)
    }

    private static func check(_ names: Set<String>, at path: String, known: Set<String>) throws(ConfigurationError) {
        guard let missing = names.subtracting(known).min() else { return }
        throw ConfigurationError(
            path: path, message: "\(unknownName(missing, kind: "variable", known: known)) (values belong under “variables”)")
    }
}
