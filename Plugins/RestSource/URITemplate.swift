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
        guard let parts = BracedText.parts(of: text, literal: Part.literal, braced: Self.expression) else { return nil }
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

extension URITemplate {
    /// The expanded template (RFC 6570 §3). Omits variables that `values` does not have.
    func expand(_ values: [String: Value]) -> String {
        parts.map { part in
            switch part {
            case .literal(let text): Self.encode(text, allowReserved: true)
            case .expression(let kind, let variables): Self.expand(variables, as: kind, values: values)
            }
        }.joined()
    }

    func expand(_ values: [String: String]) -> String { expand(values.mapValues(Value.text)) }

    private static func expand(_ variables: [Variable], as kind: TemplateOperator, values: [String: Value]) -> String {
        let written = variables.compactMap { variable -> String? in
            guard let value = values[variable.name], value.isDefined else { return nil }
            return write(variable, value, as: kind)
        }
        return written.isEmpty ? "" : kind.first + written.joined(separator: kind.separator)
    }

    private static func write(_ variable: Variable, _ value: Value, as kind: TemplateOperator) -> String {
        func encoded(_ text: String) -> String { encode(text, allowReserved: kind.allowsReserved) }
        func named(_ name: String, _ text: String) -> String {
            kind.isNamed ? name + (text.isEmpty ? kind.ifEmpty : "=\(text)") : text
        }
        switch (value, variable.isExploded) {
        case (.text(let text), _):
            return named(
                variable.name,
                encoded(variable.prefix.map { String(String.UnicodeScalarView(text.unicodeScalars.prefix($0))) } ?? text))
        case (.list(let members), false): return named(variable.name, members.map(encoded).joined(separator: ","))
        case (.list(let members), true): return members.map { named(variable.name, encoded($0)) }.joined(separator: kind.separator)
        case (.pairs(let members), false):
            return named(variable.name, members.flatMap { [encoded($0.0), encoded($0.1)] }.joined(separator: ","))
        case (.pairs(let members), true):
            return members.map { name, text in
                let text = encoded(text)
                return kind.isNamed ? named(encoded(name), text) : "\(encoded(name))=\(text)"
            }.joined(separator: kind.separator)
        }
    }

    /// Escapes characters that a URI may not contain. If reserved characters are allowed, keeps existing escapes.
    private static func encode(_ text: String, allowReserved: Bool) -> String {
        guard allowReserved else { return PercentEncoding.encode(text) }
        let bytes = Array(text.utf8)
        var written = ""
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && isHex(bytes[index + 1]) && isHex(bytes[index + 2])
            if isEscape || ":/?#[]@!$&'()*+,;=".utf8.contains(byte) {
                written.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                written += PercentEncoding.encode(bytes: [byte])
            }
        }
        return written
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
}

/// The operator at the start of an expression, which selects the notation (RFC 6570, appendix A).
enum TemplateOperator: String, Sendable {
    case simple = ""
    case reserved = "+"
    case fragment = "#"
    case label = "."
    case path = "/"
    case parameters = ";"
    case query = "?"
    case continuation = "&"

    /// The prefix of the first value.
    var first: String {
        switch self {
        case .simple, .reserved: ""
        default: rawValue
        }
    }

    /// Written between values.
    var separator: String {
        switch self {
        case .simple, .reserved, .fragment: ","
        case .query, .continuation: "&"
        case .label, .path, .parameters: rawValue
        }
    }

    /// Whether names precede values.
    var isNamed: Bool { self == .parameters || self == .query || self == .continuation }

    /// The suffix of the name of an empty value.
    var ifEmpty: String { self == .parameters ? "" : "=" }

    /// Whether reserved characters are kept.
    var allowsReserved: Bool { self == .reserved || self == .fragment }
}
