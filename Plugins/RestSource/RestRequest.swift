internal import OnesheetCore

/// A request of a manifest: `get`, or `post` with a body of JSON.
struct RestRequest: Sendable, Decodable {
    let url: URITemplate
    /// The body of a POST; `nil` for a GET.
    let body: BodyTemplate?
    /// Headers that replace those of the manifest.
    var headers: [String: Phrase]?

    private enum CodingKeys: CodingKey { case get, post, json, headers }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        if keys.contains(.post) {
            url = try keys.decode(URITemplate.self, forKey: .post)
            body = try keys.decodeIfPresent(BodyTemplate.self, forKey: .json) ?? BodyTemplate.empty
            guard !keys.contains(.get) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .post, in: keys, debugDescription: "a request has “get” or “post”, not both")
            }
        } else {
            url = try keys.decode(URITemplate.self, forKey: .get)
            body = nil
        }
        headers = try keys.decodeIfPresent([String: Phrase].self, forKey: .headers)
    }

    /// The names of the variables in its URL and body.
    var names: Set<String> { url.names.union(body?.names ?? []) }
    var headerNames: Set<String> { headers?.names ?? [] }
    /// The names of all its variables.
    var allNames: Set<String> { names.union(headerNames) }
}

extension [String: Phrase] {
    /// The texts with these values. What is empty, or has only empty variables, is not sent.
    func sent(_ values: [String: String]) -> [String: String] {
        filter { $0.value.names.isEmpty || $0.value.names.contains { !(values[$0] ?? "").isEmpty } }
            .mapValues { $0.filled(values) }.filter { !$0.value.isEmpty }
    }

    var names: Set<String> { values.reduce(into: []) { $0.formUnion($1.names) } }
}

/// A JSON document with variables as values. A text in it is literal, braces included; `{ text: "{page}", as: integer }` is a value
/// made of variables. So nothing that a variable contains can change the document's structure.
indirect enum BodyTemplate: Sendable, Decodable {
    case null
    case literal(String)
    case value(Phrase, ValueKind)
    case list([BodyTemplate])
    case object([String: BodyTemplate])

    static let empty = BodyTemplate.object([:])

    init(from decoder: any Decoder) throws {
        let value = try ConfigurationValue(from: decoder)
        do throws(Invalid) {
            self = try BodyTemplate(value)
        } catch {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: error.reason))
        }
    }

    private struct Invalid: Error { let reason: String }

    private init(_ value: ConfigurationValue) throws(Invalid) {
        switch value {
        case .null: self = .null
        case .scalar(let text): self = .literal(text)
        case .list(let values):
            var members: [BodyTemplate] = []
            for value in values { members.append(try BodyTemplate(value)) }
            self = .list(members)
        case .mapping(let keys):
            if case .scalar(let text)? = keys["text"] {
                guard let phrase = Phrase(text), !phrase.hasPlaces else { throw Invalid(reason: Phrase.problem(text)) }
                self = .value(phrase, try Self.kind(keys))
                return
            }
            var members: [String: BodyTemplate] = [:]
            for (name, value) in keys { members[name] = try BodyTemplate(value) }
            self = .object(members)
        }
    }

    private static func kind(_ keys: [String: ConfigurationValue]) throws(Invalid) -> ValueKind {
        if let key = keys.keys.sorted().first(where: { $0 != "text" && $0 != "as" }) {
            throw Invalid(reason: unknownName(key, kind: "key", known: ["text", "as"]))
        }
        switch keys["as"] {
        case nil: return .text
        case .scalar(let word)?:
            if let kind = ValueKind(rawValue: word) { return kind }
            throw Invalid(reason: unknownName(word, kind: "type", known: ValueKind.allCases.map(\.rawValue)))
        default: throw Invalid(reason: "“as” needs a type")
        }
    }

    var names: Set<String> {
        switch self {
        case .null, .literal: []
        case .value(let phrase, _): phrase.names
        case .list(let members): members.reduce(into: []) { $0.formUnion($1.names) }
        case .object(let members): members.values.reduce(into: []) { $0.formUnion($1.names) }
        }
    }

    /// The document; `nil` if it is an empty value, which the document around it leaves out.
    /// - Throws: the text that is not of its type.
    func filled(_ values: [String: String]) throws(ValueProblem) -> JSONValue? {
        switch self {
        case .null: return .null
        case .literal(let text): return .string(text)
        case .value(let phrase, let kind):
            let text = phrase.filled(values)
            guard !text.isEmpty else { return nil }
            guard let value = kind.value(of: text) else { throw ValueProblem(reason: "“\(text)” is not \(kind.words)") }
            return value
        case .list(let templates):
            var members: [JSONValue] = []
            for template in templates { if let member = try template.filled(values) { members.append(member) } }
            return .array(members)
        case .object(let templates):
            var members: [String: JSONValue] = [:]
            for (name, template) in templates { members[name] = try template.filled(values) }
            return .object(members)
        }
    }

    /// A variable has no value of the type that the document needs.
    struct ValueProblem: Error { let reason: String }
}
