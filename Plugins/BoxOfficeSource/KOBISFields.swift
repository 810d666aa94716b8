internal import OnesheetCore

/// Reads KOBIS's values: nearly all of them are texts, numbers included, and an empty text means that there is none.
extension KeyedDecodingContainer {
    /// A text without the spaces around it; `nil` where it is empty.
    func text(_ key: Key) throws -> String? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        let trimmed = text.trimmed
        return trimmed.isEmpty ? nil : trimmed
    }

    func requiredText(_ key: Key) throws -> String {
        guard let text = try text(key) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "“\(key.stringValue)” is empty")
        }
        return text
    }

    /// A number, whether KOBIS wrote it as a number or as a text.
    func number<Number: LosslessStringConvertible & Decodable>(_ key: Key, _ type: Number.Type = Int.self) throws -> Number? {
        let text: String?
        do {
            text = try self.text(key)
        } catch DecodingError.typeMismatch {
            return try decodeIfPresent(type, forKey: key)
        }
        guard let text else { return nil }
        // What Swift reads as a number can be none, or infinite.
        guard let number = Number(text), (number as? Double)?.isFinite ?? true else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "“\(text)” of “\(key.stringValue)” is not a number")
        }
        return number
    }

    func requiredNumber(_ key: Key) throws -> Int {
        guard let number = try number(key) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "“\(key.stringValue)” is empty")
        }
        return number
    }

    /// A day, with dashes or without; some films have only a year or a month, which is no day.
    func day(_ key: Key) throws -> CalendarDay? { try text(key).flatMap { CalendarDay($0) } }

    /// A list; none where KOBIS leaves it out.
    func list<Element: Decodable>(_ key: Key, of type: Element.Type = Element.self) throws -> [Element] {
        try decodeIfPresent([Element].self, forKey: key) ?? []
    }
}

extension String {
    /// Without white space around it.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
            return ""
        }
        return String(self[first...last])
    }
}
