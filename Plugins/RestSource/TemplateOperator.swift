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
