package import OnesheetCore

/// A section of the configuration. `settings` describes each key once; decoding, printing and the reference all use that
/// description.
package protocol ConfigurationSection: SettingValue {
    /// Creates the section with its defaults.
    init()

    /// The keys, in the order in which they are printed.
    static var settings: [Setting<Self>] { get }

    /// Checks ranges and combinations of values.
    /// - Throws: `ConfigurationError` with the full path of the bad key.
    func check() throws(ConfigurationError)

    /// All errors of `check()`, which itself ends with the first.
    func errors() -> [ConfigurationError]
}

extension ConfigurationSection {
    package static var kind: String { "section" }

    package init(from decoder: any Decoder) throws {
        self.init()
        try read(from: decoder)
    }

    /// Decodes the keys that are present.
    mutating func read(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: SettingKey<Self>.self)
        guard decoder.notesErrors else {
            for setting in Self.settings { try setting.read(keys, &self) }
            return try check()
        }
        for setting in Self.settings { do { try setting.read(keys, &self) } catch { try decoder.note(error) } }
        for error in errors() { try decoder.note(error) }
    }

    package func check() throws(ConfigurationError) {}

    /// Sets each wrong key to its default to see the next error.
    package func errors() -> [ConfigurationError] {
        var errors: [ConfigurationError] = []
        var copy = self
        var rest = Self.settings
        while true {
            do throws(ConfigurationError) {
                try copy.check()
                return errors
            } catch {
                errors.append(error)
                let keys = error.path.split(separator: ".")
                guard let index = rest.firstIndex(where: { setting in keys.contains { $0 == setting.key } }) else { return errors }
                rest.remove(at: index).reset(&copy)
            }
        }
    }

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
    /// Sets the key to its default.
    let reset: (inout Section) -> Void
    let rows: (_ path: String) -> [ReferenceRow]

    /// A key that always has a value.
    /// - Parameters:
    ///   - defaultText: a description of the default, if it depends on the machine.
    ///   - isRequired: whether the key is required.
    package init<Value: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value>, defaultText: String? = nil, isRequired: Bool = false,
        meaning: String
    ) {
        self.init(key, path, as: Value.self, defaultText: defaultText, isRequired: isRequired, meaning: meaning) {
            $0
        } from: {
            $0
        }
    }

    /// A key whose written form differs from its stored form, such as bytes written as `64KiB`.
    package init<Value, Written: WrittenSetting<Value>>(
        _ key: String, _ path: WritableKeyPath<Section, Value>, as written: Written.Type, meaning: String
    ) {
        self.init(key, path, as: written, defaultText: nil, isRequired: false, meaning: meaning) {
            $0.stored
        } from: {
            Written($0)
        }
    }

    private init<Value, Written: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value>, as type: Written.Type, defaultText: String?, isRequired: Bool,
        meaning: String, to value: @escaping (Written) -> Value, from: @escaping (Value) -> Written
    ) {
        self.key = key
        read = { keys, section in
            let name = SettingKey<Section>(key)
            let written =
                isRequired ? try keys.decode(Written.self, forKey: name) : try keys.decodeIfPresent(Written.self, forKey: name)
            if let written { section[keyPath: path] = value(written) }
        }
        reset = { $0[keyPath: path] = Section()[keyPath: path] }
        print = { section, written in from(section[keyPath: path]).printed(written) }
        rows = { place in
            let below = Written.rows(below: place)
            guard below.isEmpty else { return below }
            let text = defaultText ?? from(Section()[keyPath: path]).printed(nil).asCode
            return [ReferenceRow(path: place, kind: Written.kind, defaultText: isRequired ? "required" : text, meaning: meaning)]
        }
    }

    /// An optional key.
    /// - Parameter defaultText: a description of the default.
    package init<Value: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value?>, defaultText: String, meaning: String
    ) {
        self.init(key, path, as: Value.self, defaultText: defaultText, meaning: meaning) {
            $0
        } from: {
            $0
        }
    }

    /// An optional key whose written form differs from its stored form.
    package init<Value, Written: WrittenSetting<Value>>(
        _ key: String, _ path: WritableKeyPath<Section, Value?>, as written: Written.Type, defaultText: String, meaning: String
    ) {
        self.init(key, path, as: written, defaultText: defaultText, meaning: meaning) {
            $0.stored
        } from: {
            Written($0)
        }
    }

    private init<Value, Written: SettingValue>(
        _ key: String, _ path: WritableKeyPath<Section, Value?>, as type: Written.Type, defaultText: String, meaning: String,
        to value: @escaping (Written) -> Value, from: @escaping (Value) -> Written
    ) {
        self.key = key
        read = { keys, section in
            let written = try keys.decodeIfPresent(Written.self, forKey: SettingKey(key))
            if let written { section[keyPath: path] = value(written) }
        }
        reset = { $0[keyPath: path] = Section()[keyPath: path] }
        print = { section, written in section[keyPath: path].map { from($0).printed(written) } ?? .absent(defaultText) }
        rows = { place in
            let below = Written.rows(below: place)
            return below.isEmpty
                ? [ReferenceRow(path: place, kind: Written.kind, defaultText: defaultText, meaning: meaning)] : below
        }
    }
}

/// A coding key that exists only if the section has it.
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
