package import OnesheetCore

/// A part of the configuration. Each of its keys is described once, in `settings`, and is read, printed and documented by that.
package protocol ConfigurationSection: SettingValue {
    /// What holds without any key.
    init()

    /// The keys, in the order in which they are printed.
    static var settings: [Setting<Self>] { get }

    /// Refuses values that do not go together or are out of range.
    /// - Throws: `ConfigurationError` with the whole path of what is wrong.
    func check() throws(ConfigurationError)
}

extension ConfigurationSection {
    package static var kind: String { "section" }

    package init(from decoder: any Decoder) throws {
        self.init()
        try read(from: decoder)
    }

    /// Takes the keys that are there.
    mutating func read(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: SettingKey<Self>.self)
        for setting in Self.settings { try setting.read(keys, &self) }
        try check()
    }

    package func check() throws(ConfigurationError) {}

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        .mapping(Self.settings.map { ($0.key, $0.print(self, written?[$0.key])) })
    }

    package static func rows(below path: String) -> [ReferenceRow] {
        settings.flatMap { $0.rows(path.isEmpty ? $0.key : "\(path).\($0.key)") }
    }
}

/// One key of a section.
package struct Setting<Section: ConfigurationSection> {
    package let key: String
    let read: (KeyedDecodingContainer<SettingKey<Section>>, inout Section) throws -> Void
    let print: (Section, PrintedValue?) -> PrintedValue
    let rows: (_ path: String) -> [ReferenceRow]

    /// A key that has a value in any case.
    /// - Parameters:
    ///   - standard: what holds without the key, in words, if the section's own value does not say it for every machine.
    ///   - isNeeded: whether the section is wrong without it.
    package init<Value: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value>, standard: String? = nil, isNeeded: Bool = false, meaning: String
    ) {
        self.init(key, path, as: Value.self, standard: standard, isNeeded: isNeeded, meaning: meaning) {
            $0
        } from: {
            $0
        }
    }

    /// The same for a value that is written in another way than it is kept: bytes as `64KiB`, for one.
    package init<Value, Written: WrittenSetting<Value>>(
        _ key: String, _ path: WritableKeyPath<Section, Value>, as written: Written.Type, meaning: String
    ) {
        self.init(key, path, as: written, standard: nil, isNeeded: false, meaning: meaning) {
            $0.meant
        } from: {
            Written($0)
        }
    }

    private init<Value, Written: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value>, as type: Written.Type, standard: String?, isNeeded: Bool,
        meaning: String, to value: @escaping (Written) -> Value, from: @escaping (Value) -> Written
    ) {
        self.key = key
        read = { keys, section in
            let name = SettingKey<Section>(key)
            let written =
                isNeeded ? try keys.decode(Written.self, forKey: name) : try keys.decodeIfPresent(Written.self, forKey: name)
            if let written { section[keyPath: path] = value(written) }
        }
        print = { section, written in from(section[keyPath: path]).printed(written) }
        rows = { place in
            let below = Written.rows(below: place)
            guard below.isEmpty else { return below }
            let usual = standard ?? from(Section()[keyPath: path]).printed(nil).asCode
            return [ReferenceRow(path: place, kind: Written.kind, standard: isNeeded ? "needed" : usual, meaning: meaning)]
        }
    }

    /// A key that may have no value.
    /// - Parameter standard: what holds then, in words.
    package init<Value: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value?>, standard: String, meaning: String
    ) {
        self.init(key, path, as: Value.self, standard: standard, meaning: meaning) {
            $0
        } from: {
            $0
        }
    }

    /// The same for a value that is written in another way than it is kept.
    package init<Value, Written: WrittenSetting<Value>>(
        _ key: String, _ path: WritableKeyPath<Section, Value?>, as written: Written.Type, standard: String, meaning: String
    ) {
        self.init(key, path, as: written, standard: standard, meaning: meaning) {
            $0.meant
        } from: {
            Written($0)
        }
    }

    private init<Value, Written: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value?>, as type: Written.Type, standard: String, meaning: String,
        to value: @escaping (Written) -> Value, from: @escaping (Value) -> Written
    ) {
        self.key = key
        read = { keys, section in
            let written = try keys.decodeIfPresent(Written.self, forKey: SettingKey(key))
            if let written { section[keyPath: path] = value(written) }
        }
        print = { section, written in section[keyPath: path].map { from($0).printed(written) } ?? .absent(standard) }
        rows = { place in
            let below = Written.rows(below: place)
            return below.isEmpty ? [ReferenceRow(path: place, kind: Written.kind, standard: standard, meaning: meaning)] : below
        }
    }
}

/// A key of a section; keys that the section does not have are none.
struct SettingKey<Section: ConfigurationSection>: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ key: String) { stringValue = key }

    init?(stringValue: String) {
        guard Section.settings.contains(where: { $0.key == stringValue }) else { return nil }
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}
