internal import OnesheetCore

/// Recognises an error of the service and maps it to an error of the source.
struct FaultRule: Sendable, Decodable {
    enum Reason: String, Sendable, Decodable, CaseIterable {
        case notFound, unauthorized, quotaExhausted, rateLimited, unavailable, malformedAnswer
    }

    /// The status of the response; `nil` matches any.
    var status: Int?
    /// What the response must have, if it is named.
    var condition: Condition?
    var reason: Reason
    /// The place of the service's own message.
    var message: JSONPointer?

    private enum CodingKeys: CodingKey { case status, at, reason, message }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        status = try keys.decodeIfPresent(Int.self, forKey: .status)
        condition = keys.contains(.at) ? try Condition(from: decoder) : nil
        reason = try keys.decode(Reason.self, forKey: .reason)
        message = try keys.decodeIfPresent(JSONPointer.self, forKey: .message)
    }

    /// - Parameter document: `nil` if the response is not JSON.
    func matches(status: Int, _ document: JSONValue?) -> Bool {
        if let wanted = self.status, wanted != status { return false }
        guard let condition else { return self.status != nil }
        return document.map(condition.holds) ?? false
    }
}

/// What a value must be: a place that has one, and the texts that it may be.
struct Condition: Sendable, Decodable {
    var at: JSONPointer
    /// `nil` allows any.
    var equals: OneOrMore<String>?

    func holds(for value: JSONValue) -> Bool {
        guard let found = at.value(in: value), found != .null else { return false }
        guard let equals else { return true }
        return found.plainText.map { text in equals.all.contains { $0.isExactly(text) } } ?? false
    }
}
