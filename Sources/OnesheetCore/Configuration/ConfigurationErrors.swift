/// Collects the errors of one decoding, so that all are told at once.
final class ConfigurationErrors {
    private(set) var all: [ConfigurationError] = []

    func note(_ error: any Error) { all.append(ConfigurationError(error)) }
}

extension Decoder {
    /// Whether a reader may note errors with `note(_:)` and go on.
    package var notesErrors: Bool { (self as? ConfigurationDecoding)?.errors != nil }

    /// Notes `error` so that the reader can go on, if the decoding collects its errors. Otherwise throws it.
    package func note(_ error: any Error) throws {
        guard let decoding = self as? ConfigurationDecoding else { throw error }
        try decoding.noteOrThrow(error)
    }
}

extension ConfigurationError {
    /// The error of a decoder as an error with a path.
    package init(_ error: any Error) {
        switch error {
        case let error as ConfigurationError: self = error
        case DecodingError.keyNotFound(let key, let context):
            self.init(path: context.codingPath, message: "“\(key.stringValue)” is missing")
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(path: context.codingPath, message: context.debugDescription)
        default: self.init(path: "", message: "\(error)")
        }
    }
}

/// A collection that can be decoded without its malformed elements.
protocol ElementwiseDecodable {
    /// Decodes each element for itself, and notes the errors of the others.
    static func decode(_ decoding: ConfigurationDecoding, noting errors: ConfigurationErrors) throws -> Self
}

extension Array: ElementwiseDecodable where Element: Decodable {
    static func decode(_ decoding: ConfigurationDecoding, noting errors: ConfigurationErrors) throws -> Self {
        var list = try decoding.unkeyedContainer()
        var elements: Self = []
        while !list.isAtEnd {
            do { elements.append(try list.decode(Element.self)) } catch { errors.note(error) }
        }
        return elements
    }
}

extension Dictionary: ElementwiseDecodable where Key == String, Value: Decodable {
    static func decode(_ decoding: ConfigurationDecoding, noting errors: ConfigurationErrors) throws -> Self {
        let keys = try decoding.container(keyedBy: AnyKey.self)
        var values: Self = [:]
        for key in keys.allKeys {
            do { values[key.stringValue] = try keys.decode(Value.self, forKey: key) } catch { errors.note(error) }
        }
        return values
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
