/// What stands at the front of an expression and says how it is written (RFC 6570, appendix A).
enum TemplateOperator: String, Sendable {
    case simple = ""
    case reserved = "+"
    case fragment = "#"
    case label = "."
    case path = "/"
    case parameters = ";"
    case query = "?"
    case continuation = "&"

    /// Written before the first value.
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

    /// Whether values stand after their names.
    var isNamed: Bool { self == .parameters || self == .query || self == .continuation }

    /// Written after the name of an empty value.
    var ifEmpty: String { self == .parameters ? "" : "=" }

    /// Whether reserved characters stay.
    var allowsReserved: Bool { self == .reserved || self == .fragment }
}
