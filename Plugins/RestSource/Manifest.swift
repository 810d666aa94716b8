internal import OnesheetCore

/// A description of an HTTP API: what to ask for what, and where in the answers the facts are.
struct Manifest: Sendable, Decodable {
    /// The service's address; requests that begin with a slash are below it.
    var baseURL: String
    /// Sent with every request; `{name}` stands for a variable.
    var headers: [String: Phrase]?
    /// Values of variables that the configuration need not give.
    var defaults: [String: String]?
    /// The first one that an answer shows is its error.
    var faults: [FaultRule]?
    var quota: Quota?
    var dates: Dates?
    /// The source's own list.
    var list: ListRequest?
    /// Its lists by `week`, `weekend` and `weekdays`: those that sum up more than a day.
    var periods: Periods?
    /// Titles by a phrase, which is the variable `query`.
    var search: ListRequest?
    var title: TitleRequest
    var candidates: CandidatesRequest

    /// A budget of calls.
    struct Quota: Sendable, Decodable {
        var settings: QuotaSettings
        /// Where the day begins at midnight.
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

    /// Lists that sum up the week of a day, its weekend, or the days before it.
    struct Periods: Sendable, Decodable {
        var week: ListRequest?
        var weekend: ListRequest?
        var weekdays: ListRequest?
    }

    struct ListRequest: Sendable, Decodable {
        var get: URITemplate
        /// Where the list is.
        var items: JSONPointer
        /// How many there are on all pages together.
        var total: JSONPointer?
        /// How many pages there are.
        var pages: JSONPointer?
        /// Titles on a full page, where only `total` is known.
        var perPage: Int?
        var fields: TitleFields
    }

    struct TitleRequest: Sendable, Decodable {
        var get: URITemplate
        /// Where the title is; the whole answer where nothing is said.
        var item: JSONPointer?
        var fields: TitleFields
    }

    struct CandidatesRequest: Sendable, Decodable {
        enum Order: String, Sendable, Decodable {
            /// As they come.
            case given
            /// Those first that look most like a poster.
            case likeness
        }

        var get: URITemplate
        /// More variables, made of others: `query: "{name} poster"`. `{name}` is the title's name.
        var with: [String: Phrase]?
        var headers: [String: Phrase]?
        var items: JSONPointer
        var order: Order?
        var fields: CandidateFields
    }
}

extension Manifest {
    /// The list that sums up `period`; `nil` where there is none.
    func list(by period: TitleQuery.Period) -> ListRequest? {
        switch period {
        case .day: list
        case .week: periods?.week
        case .weekend: periods?.weekend
        case .weekdays: periods?.weekdays
        }
    }
}

/// A text with variables: `Bearer {token}`. Unlike a template it escapes nothing.
struct Phrase: Sendable, Decodable {
    let text: String
    private let template: URITemplate

    var names: Set<String> { template.names }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard let template = URITemplate(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” has a brace without its partner")
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
