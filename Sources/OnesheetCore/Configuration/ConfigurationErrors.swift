/// Collects the errors of one decoding, so that all are reported at once.
final class ConfigurationErrors {
    private(set) var all: [ConfigurationError] = []

    func note(_ error: any Error) {
        if !(error is AlreadyNoted) { all.append(ConfigurationError(error)) }
    }

    /// Notes an unknown key. If it is a known key that is misspelt, that one is not missing too.
    func note(unknown error: ConfigurationError, near known: String?) {
        if let known { all.removeAll { $0 == .missing(known, at: error.path) } }
        all.append(error)
    }
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
            self = .missing(key.stringValue, at: ConfigurationError(path: context.codingPath, message: "").path)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            self.init(path: context.codingPath, message: context.debugDescription)
        default: self.init(path: "", message: "\(error)")
        }
    }
}

extension ConfigurationError {
    fileprivate static func missing(_ key: String, at path: String) -> ConfigurationError {
        ConfigurationError(path: path, message: "“\(key)” is missing")
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
