internal import OnesheetCore

/// How an error of the service is told from an answer, and what it means.
struct FaultRule: Sendable, Decodable {
    enum Reason: String, Sendable, Decodable, CaseIterable {
        case notFound, unauthorized, quotaExhausted, unavailable, malformedAnswer
    }

    /// The answer's status; any where nothing is said.
    var status: Int?
    /// A place that the answer has to have.
    var at: JSONPointer?
    /// What has to be there, as text; anything where nothing is said.
    var equals: String?
    var reason: Reason
    /// Where the service's own words are.
    var message: JSONPointer?

    /// - Parameter document: `nil` where the answer is no JSON.
    func matches(status: Int, _ document: JSONValue?) -> Bool {
        if let wanted = self.status, wanted != status { return false }
        guard let at else { return self.status != nil }
        guard let found = document.flatMap(at.value), found != .null else { return false }
        return equals.map { found.plainText?.isExactly($0) ?? false } ?? true
    }
}

extension JSONValue {
    /// A text, number or truth value as text; `nil` for everything else.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .number(let number): String(number)
        case .bool(let flag): String(flag)
        case .null, .array, .object: nil
        }
    }

    /// The value without what says nothing: texts lose the space around them, and empty texts, lists and objects go. `nil` where
    /// nothing is left.
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
