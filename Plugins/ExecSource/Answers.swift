internal import FoundationEssentials
internal import OnesheetCore

/// A JSON object in a program's answer. A field of the wrong type makes the answer malformed, with the reason.
struct AnswerObject {
    private let members: [String: JSONValue]

    init(_ value: JSONValue?, _ what: String) throws(SourceError) {
        guard case .object(let members)? = value else { throw Self.misshapen("\(what) is not an object") }
        self.members = members
    }

    /// `nil` if it is absent or null.
    func value(_ name: String) -> JSONValue? { members[name].flatMap { $0 == .null ? nil : $0 } }

    func text(_ name: String) throws(SourceError) -> String? {
        switch members[name] {
        case nil, .null?: nil
        case .string(let text)?: text
        default: throw Self.misshapen("“\(name)” is not a text")
        }
    }

    func required(_ name: String) throws(SourceError) -> String {
        guard let text = try text(name) else { throw Self.misshapen("“\(name)” is missing") }
        return text
    }

    func whole(_ name: String) throws(SourceError) -> Int? {
        switch members[name] {
        case nil, .null?: nil
        case .integer(let number)?: number
        default: throw Self.misshapen("“\(name)” is not a whole number")
        }
    }

    func day(_ name: String) throws(SourceError) -> CalendarDay? {
        guard let text = try text(name) else { return nil }
        guard let day = CalendarDay(text) else { throw Self.misshapen("“\(name)” is not a day such as 2026-11-21") }
        return day
    }

    func members(_ name: String) throws(SourceError) -> [String: JSONValue] {
        switch members[name] {
        case nil, .null?: [:]
        case .object(let members)?: members
        default: throw Self.misshapen("“\(name)” is not an object")
        }
    }

    func list(_ name: String) throws(SourceError) -> [JSONValue] {
        guard case .array(let list)? = members[name] else { throw Self.misshapen("“\(name)” is not a list") }
        return list
    }

    private static func misshapen(_ reason: String) -> SourceError {
        .malformedAnswer(reason: "the program's answer has the wrong form: \(reason)")
    }
}

/// The fields of a title or of a candidate in a program's answer.
private struct AnswerFields<Key: CodingKey>: FieldReader {
    let object: AnswerObject

    init(_ value: JSONValue?, _ what: String) throws(SourceError) { object = try AnswerObject(value, what) }

    func required(_ field: Key) throws(SourceError) -> String { try object.required(field.stringValue) }
    func text(_ field: Key) throws(SourceError) -> String? { try object.text(field.stringValue) }
    func whole(_ field: Key) throws(SourceError) -> Int? { try object.whole(field.stringValue) }
    func day(_ field: Key) throws(SourceError) -> CalendarDay? { try object.day(field.stringValue) }
    func moment(_ field: Key) throws(SourceError) -> Date? { try text(field).flatMap(PosterCandidate.moment) }
    func details(_ field: Key) throws(SourceError) -> [String: JSONValue] { try object.members(field.stringValue) }
    func value(_ field: Key, isNumber: Bool) throws(SourceError) -> JSONValue? { object.value(field.stringValue) }
}

extension Title {
    /// A title in a program's answer. Only `id` and `name` are required.
    init(answer value: JSONValue) throws(SourceError) { try self.init(reading: try AnswerFields(value, "a title")) }
}

extension TitlePage {
    /// - Parameter context: is told of titles that cannot be read, which are missing.
    init(answer value: JSONValue, _ context: PluginContext) throws(SourceError) {
        let page = try AnswerObject(value, "it")
        let titles = try page.list("titles").readable(in: "the list of titles", context) { value throws(SourceError) in
            try Title(answer: value)
        }
        self.init(titles: titles, total: try page.whole("total"), next: try page.whole("next"))
    }
}

extension PosterCandidate {
    /// A candidate in a program's answer. Only `url` is required.
    init(answer value: JSONValue) throws(SourceError) {
        let fields = try AnswerFields<CandidateFacts.CodingKeys>(value, "a candidate")
        self.init(.http(url: try fields.object.required("url")), facts: try CandidateFacts(reading: fields))
    }

    /// - Parameter context: is told of candidates that cannot be read or fetched, which are missing.
    static func list(answer value: JSONValue, _ context: PluginContext) throws(SourceError) -> [PosterCandidate] {
        try AnswerObject(value, "it").list("candidates").readable(in: "the candidates", context) { value throws(SourceError) in
            let candidate = try PosterCandidate(answer: value)
            guard WebURL(candidate.location.name) != nil else {
                throw .malformedAnswer(
                    reason: "the place of a candidate is not an http or https URL", details: "“\(shown(candidate.location.name))”")
            }
            return candidate
        }
    }
}

extension [JSONValue] {
    /// The elements that `read` can read.
    /// - Throws: the error of the first one if there is no other.
    fileprivate func readable<Value>(
        in list: String, _ context: PluginContext, _ read: (JSONValue) throws(SourceError) -> Value
    ) throws(SourceError) -> [Value] {
        var values: [Value] = []
        var damage: [SourceError] = []
        for element in self {
            do throws(SourceError) { values.append(try read(element)) } catch { damage.append(error) }
        }
        if values.isEmpty, let first = damage.first { throw first }
        context.warn(ofMissing: damage.map(\.description), in: list)
        return values
    }
}
