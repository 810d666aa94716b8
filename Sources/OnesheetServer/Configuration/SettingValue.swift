package import OnesheetCore

/// The type of a configuration key's value.
package protocol SettingValue: Decodable {
    /// The value's format in a word or two, for the reference.
    static var kind: String { get }

    /// The value in a configuration file's format.
    /// - Parameter written: the value in the original file, with unexpanded variables.
    func printed(_ written: PrintedValue?) -> PrintedValue

    /// The keys nested below this one.
    static func rows(below path: String) -> [ReferenceRow]
}

extension SettingValue {
    package static func rows(below path: String) -> [ReferenceRow] { [] }
}

/// A value whose written form differs from its stored form.
package protocol WrittenSetting<Stored>: SettingValue {
    associatedtype Stored
    init(_ stored: Stored)
    var stored: Stored { get }
}

extension SettingValue where Self: CustomStringConvertible {
    package func printed(_ written: PrintedValue?) -> PrintedValue { .text(description) }
}

extension Bool: SettingValue { package static var kind: String { "true, false" } }
extension Int: SettingValue { package static var kind: String { "number" } }
extension String: SettingValue { package static var kind: String { "text" } }

extension Double: SettingValue {
    package static var kind: String { "number" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        .text(Int(exactly: self).map { "\($0)" } ?? "\(self)")
    }
}

extension Interval: WrittenSetting {
    package static var kind: String { "interval" }
    package var stored: Duration { duration }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        let milliseconds = Int(duration / .milliseconds(1))
        let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        guard milliseconds > 0 else { return .text("0s") }
        let unit = units.first { milliseconds.isMultiple(of: $0.1) } ?? ("ms", 1)
        return .text("\(milliseconds / unit.1)\(unit.0)")
    }
}

extension ByteSize: WrittenSetting {
    package static var kind: String { "size" }
    package var stored: Int { bytes }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        let units = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
        guard bytes > 0, let unit = units.first(where: { bytes.isMultiple(of: $0.1) }) else { return .text("\(bytes)") }
        return .text("\(bytes / unit.1)\(unit.0)")
    }
}

extension Count: WrittenSetting {
    package static var kind: String { "count" }
    package var stored: Int { value }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        let units = [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000)]
        guard value > 0, let unit = units.first(where: { value.isMultiple(of: $0.1) }) else { return .text("\(value)") }
        return .text("\(value / unit.1)\(unit.0)")
    }
}

extension Array: SettingValue where Element: SettingValue {
    package static var kind: String { "list" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        .list(enumerated().map { $1.printed(written?[$0]) })
    }

    package static func rows(below path: String) -> [ReferenceRow] { Element.rows(below: path + "[]") }
}

extension Dictionary: SettingValue where Key == String, Value: SettingValue {
    package static var kind: String { "map" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        let order = written?.keys ?? []
        let names = keys.sorted { (order.firstIndex(of: $0) ?? order.count, $0) < (order.firstIndex(of: $1) ?? order.count, $1) }
        return .mapping(names.compactMap { name in self[name].map { (name, $0.printed(written?[name])) } })
    }

    package static func rows(below path: String) -> [ReferenceRow] { Value.rows(below: path + ".NAME") }
}

/// A plugin's configuration, printed as it is written.
extension ConfigurationValue: SettingValue {
    package static var kind: String { "map" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        switch self {
        case .null: .absent(nil)
        case .scalar(let text): written ?? .text(text)
        case .list(let values): values.printed(written)
        case .mapping(let keys): keys.printed(written)
        }
    }
}

/// A value from a fixed set of words.
package protocol SettingWord: SettingValue, RawRepresentable<String>, CaseIterable {
    /// The noun for the value in errors.
    static var noun: String { get }
}

extension SettingWord {
    package static var kind: String { allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let word = Self(rawValue: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: unknownName(text, kind: Self.noun, known: Self.allCases.map(\.rawValue)))
        }
        self = word
    }

    package func printed(_ written: PrintedValue?) -> PrintedValue { .text(rawValue) }
}
