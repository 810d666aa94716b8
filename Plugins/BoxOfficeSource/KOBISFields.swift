internal import OnesheetCore

/// Decodes the values of KOBIS. Almost all are strings, including numbers, and an empty string means that there is no value.
extension KeyedDecodingContainer {
    /// The string without surrounding spaces; `nil` if it is empty.
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

    /// A number, written as a number or as a text.
    func number<Number: LosslessStringConvertible & Decodable>(_ key: Key, _ type: Number.Type = Int.self) throws -> Number? {
        let text: String?
        do {
            text = try self.text(key)
        } catch DecodingError.typeMismatch {
            return try decodeIfPresent(type, forKey: key)
        }
        guard let text else { return nil }
        // Swift also parses NaN and infinity.
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

    /// A day, with or without dashes. Some films have only a year or a month: those have no day.
    func day(_ key: Key) throws -> CalendarDay? { try text(key).flatMap { CalendarDay($0) } }

    /// A list; empty if KOBIS omits it.
    func list<Element: Decodable>(_ key: Key, of type: Element.Type = Element.self) throws -> [Element] {
        try decodeIfPresent([Element].self, forKey: key) ?? []
    }
}

extension String {
    /// Without surrounding white space.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
            return ""
        }
        return String(self[first...last])
    }
}
