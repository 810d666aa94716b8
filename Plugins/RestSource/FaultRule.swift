internal import OnesheetCore

/// Recognises an error of the service and maps it to an error of the source.
struct FaultRule: Sendable, Decodable {
    enum Reason: String, Sendable, Decodable, CaseIterable {
        case notFound, unauthorized, quotaExhausted, rateLimited, unavailable, malformedAnswer
    }

    /// The status of the response; `nil` matches any.
    var status: Int?
    /// A place that the response must have.
    var at: JSONPointer?
    /// The required text at that place; `nil` matches any.
    var equals: String?
    var reason: Reason
    /// The place of the service's own message.
    var message: JSONPointer?

    /// - Parameter document: `nil` if the response is not JSON.
    func matches(status: Int, _ document: JSONValue?) -> Bool {
        if let wanted = self.status, wanted != status { return false }
        guard let at else { return self.status != nil }
        guard let found = document.flatMap(at.value), found != .null else { return false }
        return equals.map { found.plainText?.isExactly($0) ?? false } ?? true
    }
}

extension JSONValue {
    /// A text, number or Boolean as text; `nil` for all other values.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .bool(let flag): String(flag)
        case .null, .array, .object: nil
        }
    }

    /// The value without empty parts: trims texts, and removes empty texts, lists and objects. `nil` if nothing is left.
    var meaningful: JSONValue? {
        switch self {
        case .null: return nil
        case .string(let text):
            guard let first = text.firstIndex(where: { !$0.isWhitespace }), let last = text.lastIndex(where: { !$0.isWhitespace })
            else {
                return nil
            }
            return .string(String(text[first...last]))
        case .array(let members):
            let kept = members.compactMap(\.meaningful)
            return kept.isEmpty ? nil : .array(kept)
        case .object(let members):
            let kept = members.compactMapValues(\.meaningful)
            return kept.isEmpty ? nil : .object(kept)
        default: return self
        }
    }
}
