internal import OnesheetCore

/// A URI template (RFC 6570, all four levels).
struct URITemplate: Sendable, Equatable {
    /// The value of a variable.
    enum Value: Sendable, Equatable {
        case text(String)
        case list([String])
        case pairs([(String, String)])

        static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.text(let a), .text(let b)): a == b
            case (.list(let a), .list(let b)): a == b
            case (.pairs(let a), .pairs(let b)): a.elementsEqual(b, by: ==)
            default: false
            }
        }

        /// RFC 6570 §2.3: a list or a map without members is undefined.
        var isDefined: Bool {
            switch self {
            case .text: true
            case .list(let members): !members.isEmpty
            case .pairs(let members): !members.isEmpty
            }
        }
    }

    struct Variable: Sendable, Equatable {
        var name: String
        var isExploded = false
        /// The number of characters to keep from the front.
        var prefix: Int?
    }

    enum Part: Sendable, Equatable {
        case literal(String)
        case expression(TemplateOperator, [Variable])
    }

    let text: String
    let parts: [Part]

    /// Parses a template; `nil` if the text is invalid.
    init?(_ text: String) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            let literal = rest[..<open]
            guard !literal.contains("}"), let part = Self.expression(rest[rest.index(after: open)..<close]) else { return nil }
            if !literal.isEmpty { parts.append(.literal(String(literal))) }
            parts.append(part)
            rest = rest[rest.index(after: close)...]
        }
        guard !rest.contains("}") else { return nil }
        if !rest.isEmpty { parts.append(.literal(String(rest))) }
        self.text = text
        self.parts = parts
    }

    /// The names of all variables.
    var names: Set<String> {
        Set(
            parts.flatMap { part -> [String] in
                if case .expression(_, let variables) = part { return variables.map(\.name) }
                return []
            })
    }

    private static func expression(_ text: Substring) -> Part? {
        guard let first = text.first else { return nil }
        let kind = TemplateOperator(rawValue: String(first))
        // Reserved for extensions (RFC 6570 §2.2).
        if kind == nil, "=,!@|".contains(first) { return nil }
        let list = kind == nil ? text : text.dropFirst()
        var variables: [Variable] = []
        for spec in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let variable = variable(spec) else { return nil }
            variables.append(variable)
        }
        return .expression(kind ?? .simple, variables)
    }

    private static func variable(_ spec: Substring) -> Variable? {
        var name = spec
        var variable = Variable(name: "")
        if name.hasSuffix("*") {
            variable.isExploded = true
            name = name.dropLast()
        } else if let colon = name.firstIndex(of: ":") {
            guard let length = Int(name[name.index(after: colon)...]), (1..<10_000).contains(length) else { return nil }
            variable.prefix = length
            name = name[..<colon]
        }
        let allowed = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%")
        }
        guard !name.isEmpty, allowed else { return nil }
        variable.name = String(name)
        return variable
    }
}
