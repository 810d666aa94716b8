internal import OnesheetCore

/// A place in a JSON document (RFC 6901): `/results/0/title`. The empty text is the whole document.
struct JSONPointer: Sendable, Equatable {
    let text: String
    private let tokens: [String]

    /// Parses a pointer; `nil` if the text is invalid.
    init?(_ text: String) {
        guard text.isEmpty || text.hasPrefix("/") else { return nil }
        var tokens: [String] = []
        for raw in text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let token = Self.unescape(raw) else { return nil }
            tokens.append(token)
        }
        self.text = text
        self.tokens = tokens
    }

    /// The value at this place; `nil` if there is none.
    func value(in document: JSONValue) -> JSONValue? {
        tokens.reduce(document) { value, token in
            switch value {
            case .object(let members)?: members[token]
            case .array(let members)?: Self.index(token).flatMap { $0 < members.count ? members[$0] : nil }
            default: nil
            }
        }
    }

    /// `~1` is a slash and `~0` a tilde (§4); a tilde before anything else is an error.
    private static func unescape(_ raw: Substring) -> String? {
        var token = ""
        var characters = raw.makeIterator()
        while let character = characters.next() {
            guard character == "~" else {
                token.append(character)
                continue
            }
            switch characters.next() {
            case "0": token.append("~")
            case "1": token.append("/")
            default: return nil
            }
        }
        return token
    }

    /// Digits without a leading zero (§4).
    private static func index(_ token: String) -> Int? {
        guard token == "0" || token.first != "0", token.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(token)
    }
}

extension JSONPointer: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let pointer = JSONPointer(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not a JSON pointer such as /results/0/title")
        }
        self = pointer
    }
}

extension URITemplate: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let template = URITemplate(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not a URI template such as /movie/{id}{?language}")
        }
        self = template
    }
}
