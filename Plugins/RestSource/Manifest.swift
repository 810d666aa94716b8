internal import OnesheetCore

/// A description of an HTTP API: the requests, and the places of the facts in the responses.
struct Manifest: Sendable, Decodable {
    /// The base URL of requests that begin with a slash, or the variable that has it: `{server}`.
    var baseURL: String
    /// Headers of every request; `{name}` stands for a variable. One whose variables are all empty is not sent.
    var headers: [String: Phrase]?
    /// Parameters in the address of every request to the base URL, as `headers`.
    var query: [String: Phrase]?
    /// Variables of which one is enough, such as a token and a key. The others are empty.
    var either: [String]?
    /// Default values of variables.
    var defaults: [String: String]?
    /// Texts that say that there is no value: `N/A`.
    var nothing: [String]?
    /// Rules for errors. The first matching one applies.
    var faults: [FaultRule]?
    var quota: Quota?
    /// The databases whose ids the source takes; its own are those of the first.
    var ids: [WrittenIDs]?
    /// Requests per second, if the configuration does not say.
    var rate: Double?
    /// The freshness of images, if the configuration does not say.
    var freshness: FreshnessSettings?
    /// The exchange of a key for a token, which is the variable `token` of headers.
    var token: TokenRequest?
    var dates: Dates?
    /// The list of the source.
    var list: ListRequest?
    /// Lists by `week`, `weekend` and `weekdays`, which cover more than a day.
    var periods: Periods?
    /// The genres in the language of the variable `language`; all of these lists together.
    var genres: OneOrMore<GenresRequest>?
    /// Further lists, by name.
    var lists: NamedLists?
    /// A search for titles. The phrase is the variable `query`.
    var search: ListRequest?
    /// A title by its id. Without it, and without cases, a title is found in `list`.
    var title: TitleRequest?
    /// The pictures of a title; `nil` if `cases` have them.
    var candidates: CandidatesRequest?
    /// The images that the service names by the path of a file. Such a path is an id too.
    var files: NamedFiles?
    /// Other requests for ids of a certain form. The first matching one applies; other forms are no ids if there is no `title`.
    var cases: [Case]?

    /// The ids of a database: its name, or `tvdb: "series-{id}"` for how the source writes them.
    struct WrittenIDs: Sendable, Decodable {
        var ids: DatabaseIDs

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if case .mapping(let pairs) = try container.decode(ConfigurationValue.self), let (name, value) = pairs.first,
                pairs.count == 1,
                case .scalar(let form) = value, let end = form.firstRange(ofBytesOf: "{id}"), end.upperBound == form.endIndex
            {
                ids = DatabaseIDs(try Self.database(name, container), prefix: String(form[..<end.lowerBound]))
            } else if case .scalar(let name) = try container.decode(ConfigurationValue.self) {
                ids = DatabaseIDs(try Self.database(name, container))
            } else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "needs a database such as tmdb, or how ids are written: { tvdb: \"series-{id}\" }")
            }
        }

        private static let known = ["anilist", "imdb", "itunes", "kmdb", "kobis", "tmdb", "trakt", "tvdb", "wikidata"]

        /// A database that other sources know by the same name. A new one is possible, but a slip is more likely.
        private static func database(_ name: String, _ container: any SingleValueDecodingContainer) throws -> String {
            guard !known.contains(name), let near = nearestName(to: name, among: known) else { return name }
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "unknown database “\(name)”; did you mean “\(near)”?")
        }
    }

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
}

/// The request for a token, which services exchange for a key.
struct TokenRequest: Sendable, Decodable {
    var request: RestRequest
    /// The place of the token.
    var at: JSONPointer
    /// The place of its life in seconds.
    var expires: JSONPointer?
    /// Its life, if the service does not say.
    var lasts: Interval?

    private enum CodingKeys: CodingKey { case at, expires, lasts }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        request = try RestRequest(from: decoder)
        at = try keys.decode(JSONPointer.self, forKey: .at)
        expires = try keys.decodeIfPresent(JSONPointer.self, forKey: .expires)
        lasts = try keys.decodeIfPresent(Interval.self, forKey: .lasts)
    }
}

struct TitleRequest: Sendable, Decodable {
    var request: RestRequest
    /// The place of the title; the whole response by default.
    var item: JSONPointer?
    /// The list that has the title among others.
    var items: Items?
    var fields: TitleFields

    private enum CodingKeys: CodingKey { case item, items, fields }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        request = try RestRequest(from: decoder)
        item = try keys.decodeIfPresent(JSONPointer.self, forKey: .item)
        items = try keys.decodeIfPresent(Items.self, forKey: .items)
        fields = try keys.decode(TitleFields.self, forKey: .fields)
        guard item == nil || items == nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .items, in: keys, debugDescription: "a title is at “item” or in “items”, not both")
        }
    }
}

/// A request for names of genres, and their places in a member of the list.
struct GenresRequest: Sendable, Decodable {
    var request: RestRequest
    var items: Items
    var id: Field
    var name: Field

    private enum CodingKeys: CodingKey { case items, id, name }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        request = try RestRequest(from: decoder)
        items = try keys.decode(Items.self, forKey: .items)
        id = try keys.decode(Field.self, forKey: .id)
        name = try keys.decode(Field.self, forKey: .name)
    }
}

struct CandidatesRequest: Sendable, Decodable {
    enum Order: String, Sendable, Decodable {
        /// In the order of the response.
        case given
        /// The most poster-like first.
        case likeness
    }

    var request: RestRequest
    /// Further variables, made from others: `query: "{name} poster"`. `{name}` is the name of the title.
    var with: [String: Phrase]?
    var items: CandidateLists
    var order: Order?
    var fields: CandidateFields

    private enum CodingKeys: CodingKey { case with, items, order, fields }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        request = try RestRequest(from: decoder)
        with = try keys.decodeIfPresent([String: Phrase].self, forKey: .with)
        items = try keys.decode(CandidateLists.self, forKey: .items)
        order = try keys.decodeIfPresent(Order.self, forKey: .order)
        fields = try keys.decode(CandidateFields.self, forKey: .fields)
    }

    /// Whether the request contains the title's name, which costs a call for the title.
    var needsName: Bool { request.allNames.contains("name") || with?.names.contains("name") ?? false }
}

extension Manifest {
    /// The variable of the language of texts.
    static let language = "language"

    /// `tag` as the default language is written; `nil` if there is none.
    func written(_ tag: LanguageTag) -> String? {
        defaults?[Self.language].map { $0.contains(mark: "-") ? tag.description : tag.language }
    }

    /// The variable that has the base URL, if one has.
    var baseVariable: String? {
        baseURL.hasPrefix("{") && baseURL.hasSuffix("}") ? String(baseURL.dropFirst().dropLast()) : nil
    }

    /// Whether a title is found in the list.
    var listsTitles: Bool { title == nil && !(cases ?? []).contains { $0.title != nil } }

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
