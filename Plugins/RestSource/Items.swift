internal import OnesheetCore

/// The members of a list in a response: a pointer, or `{ at: /posters, split: "|" }`.
struct Items: Sendable, Decodable {
    var at: JSONPointer
    /// What separates the members of a text.
    var split: String?
    /// What a member must be to count.
    var conditions: [Condition] = []
    /// Whether a missing list is an empty one.
    var isOptional = false

    private enum CodingKeys: String, CodingKey {
        case at, split, optional
        case conditions = "where"
    }

    init(from decoder: any Decoder) throws {
        if case .scalar = try ConfigurationValue(from: decoder) {
            at = try JSONPointer(from: decoder)
            return
        }
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        at = try keys.decode(JSONPointer.self, forKey: .at)
        split = try keys.decodeIfPresent(String.self, forKey: .split)
        conditions = try keys.decodeIfPresent(OneOrMore<Condition>.self, forKey: .conditions)?.all ?? []
        isOptional = try keys.decodeIfPresent(Bool.self, forKey: .optional) ?? false
        if split == "" {
            throw DecodingError.dataCorruptedError(forKey: .split, in: keys, debugDescription: "needs a text")
        }
    }

    /// Whether there is something in its place.
    func isPresent(in document: JSONValue, _ facts: Facts) -> Bool {
        switch at.value(in: document) {
        case .array?: true
        case let value: facts.meaning(of: value) != nil
        }
    }

    /// What `read` makes of the members. Those that it cannot read are missing, unless it can read none.
    ///
    /// An object in the place of a list is a list of one, because many services write such a list so. It must be readable.
    /// - Parameter warn: called with a reason for each member that cannot be read.
    func read<Element>(
        in document: JSONValue, _ facts: Facts, warn: ([String]) -> Void,
        _ read: (JSONValue) throws(SourceError) -> Element?
    ) throws(SourceError) -> [Element] {
        let found = at.value(in: document)
        let members: [JSONValue]
        switch found {
        case .array(let list)?: members = list
        case .object?: members = found.map { [$0] } ?? []
        case .string(let text)? where split != nil: members = text.parts(at: split ?? "").map(JSONValue.string)
        default:
            if isOptional, facts.meaning(of: found) == nil { return [] }
            throw missing
        }
        var (elements, damage) = ([Element](), [SourceError]())
        for member in members where conditions.allSatisfy({ $0.holds(for: member) }) {
            do throws(SourceError) {
                if let element = try read(member) { elements.append(element) }
            } catch {
                damage.append(error)
            }
        }
        if elements.isEmpty, let first = damage.first { throw first }
        if elements.isEmpty, !isOptional, case .object? = found { throw missing }
        warn(damage.map(\.description))
        return elements
    }

    private var missing: SourceError {
        .malformedAnswer(reason: "there is no list at “\(at.text)” in the service's answer")
    }
}

extension String {
    /// The parts between the separators, without empty ones.
    func parts(at separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(ofBytesOf: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        parts.append(String(rest))
        return parts.filter { !$0.isEmpty }
    }
}

/// One element, or a list of them.
struct OneOrMore<Element: Sendable & Decodable>: Sendable, Decodable {
    var all: [Element]

    init(from decoder: any Decoder) throws {
        if case .list = try ConfigurationValue(from: decoder) {
            all = try [Element](from: decoder)
        } else {
            all = [try Element(from: decoder)]
        }
    }
}
