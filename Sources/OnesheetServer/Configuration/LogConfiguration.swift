package import Logging
import OnesheetCore

/// The keys of `log`.
package struct LogConfiguration: Sendable, Decodable, Equatable {
    package enum Format: String, Sendable, CaseIterable {
        case text, json
    }

    /// Lines for people, or for machines.
    package var format = Format.text
    /// `nil` takes the environment's `LOG_LEVEL`, and without it `notice`.
    package var level: Logger.Level?

    private enum CodingKeys: CodingKey { case format, level }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        func word<Value: RawRepresentable & CaseIterable>(_ key: CodingKeys, _ kind: String) throws -> Value?
        where Value.RawValue == String {
            guard let text = try keys.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard let value = Value(rawValue: text) else {
                throw ConfigurationError(
                    path: "log.\(key.stringValue)", message: unknownName(text, kind: kind, known: Value.allCases.map(\.rawValue)))
            }
            return value
        }
        format = try word(.format, "format") ?? format
        level = try word(.level, "level")
    }
}
