package import OnesheetCore
package import OnesheetPipeline

/// A plugin's tier. `type`, `name` and `deadline` belong to the server; all other keys belong to the plugin.
package struct TierConfiguration: Sendable, SettingValue, Equatable {
    /// The keys that every tier has.
    package struct Common: Sendable, ConfigurationSection, Equatable {
        package var name: String?
        package var deadline = Interval(.milliseconds(250))

        package init() {}

        package static var settings: [Setting<Self>] {
            [
                Setting("name", \.name, defaultText: "its type", meaning: "name of the tier in metrics and in `Cache-Status`"),
                Setting(
                    "deadline", \.deadline,
                    meaning: "timeout of one lookup or store; after one, the tier is skipped for ten seconds"),
            ]
        }

        package func check() throws(ConfigurationError) {
            guard deadline.duration > .zero else {
                throw ConfigurationError(path: "deadline", message: "must be greater than 0, such as 250ms")
            }
        }
    }

    package let type: String
    package let common: Common
    /// The plugin's own configuration.
    package let configuration: ConfigurationValue

    package var name: String { common.name ?? type }

    package init(from decoder: any Decoder) throws {
        let nested = try NestedSource(from: decoder)
        var keys: [String: ConfigurationValue] = [:]
        if case .mapping(let all) = nested.configuration { keys = all }
        var own: [String: ConfigurationValue] = [:]
        for setting in Common.settings { own[setting.key] = keys.removeValue(forKey: setting.key) }
        do throws(ConfigurationError) {
            common = try ConfigurationDecoder().decode(Common.self, from: .mapping(own))
        } catch {
            throw error.under(decoder.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: "."))
        }
        type = nested.type
        configuration = .mapping(keys)
    }

    package static var kind: String { "tier" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        let keys = NestedSource(type: type, configuration: configuration).printedKeys(written)
        return Common.settings.reduce(keys) { $0.with($1.key, $1.print(common, written?[$1.key])) }
    }

    package static func rows(below path: String) -> [ReferenceRow] {
        let type = ReferenceRow(
            path: "\(path).type", kind: "plugin", defaultText: "required",
            meaning: "a [tier](plugins.md#a-cache-tier) behind memory and disk; the keys beside it are the plugin's")
        return [type] + Common.rows(below: path)
    }
}

/// A backend that several servers share: the store or the coordinator. `type` belongs to the server; all other keys belong to the plugin.
package struct BackendConfiguration: Sendable, SettingValue, Equatable {
    package let type: String
    /// The plugin's own configuration.
    package let configuration: ConfigurationValue

    package init(from decoder: any Decoder) throws {
        let nested = try NestedSource(from: decoder)
        type = nested.type
        configuration = nested.configuration
    }

    package static var kind: String { "backend" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        NestedSource(type: type, configuration: configuration).printedKeys(written)
    }

    package static func rows(below path: String) -> [ReferenceRow] {
        [
            ReferenceRow(
                path: "\(path).type", kind: "plugin", defaultText: "none",
                meaning: "the plugin; the keys beside it are in [its README](plugins.md#standard-plugins)")
        ]
    }
}

/// A source's keys belong to its plugin and are printed as written. Only `limits` belongs to the server and is printed in full.
extension NestedSource: SettingValue {
    package static var kind: String { "source" }

    package func printed(_ written: PrintedValue?) -> PrintedValue {
        let keys = printedKeys(written)
        // A server refuses invalid limits, so they are printed as written.
        do { return keys.with("limits", try split(at: "").server.limits.printed(written?["limits"])) } catch { return keys }
    }

    /// The keys as they are written.
    fileprivate func printedKeys(_ written: PrintedValue?) -> PrintedValue {
        if let written { return written.withoutSecrets }
        guard case .mapping(let keys) = configuration else { return .mapping([("type", .text(type))]) }
        return .mapping([("type", .text(type))] + keys.sorted { $0.key < $1.key }.map { ($0, $1.printed(nil)) }).withoutSecrets
    }

    package static func rows(below path: String) -> [ReferenceRow] {
        let type = ReferenceRow(
            path: "\(path).type", kind: "plugin", defaultText: "required",
            meaning: "the plugin; the keys beside it are in [its README](plugins.md#standard-plugins)")
        return [type] + SourceSettings.rows(below: path)
    }

    /// The plugin's own keys, and those of the server that any source can have.
    func split(at path: String) throws(ConfigurationError) -> (own: ConfigurationValue, server: SourceSettings) {
        let (own, server) = splitKeys
        do throws(ConfigurationError) {
            return (own, try ConfigurationDecoder().decode(SourceSettings.self, from: server))
        } catch {
            throw error.under(path)
        }
    }

    /// The same as they are written.
    var splitKeys: (own: ConfigurationValue, server: ConfigurationValue) {
        guard case .mapping(var keys) = configuration else { return (configuration, .mapping([:])) }
        var server: [String: ConfigurationValue] = [:]
        for setting in SourceSettings.settings { server[setting.key] = keys.removeValue(forKey: setting.key) }
        return (.mapping(keys), .mapping(server))
    }
}

/// The keys of the server that any source can have.
package struct SourceSettings: Sendable, ConfigurationSection, Equatable {
    package var limits = SourceLimits()
    package var languages: LanguageList?

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("limits", \.limits, meaning: "limits of the source"),
            Setting(
                "languages", \.languages, as: WrittenLanguages.self, defaultText: "no preference",
                meaning:
                    "wanted languages of images and texts in order: tags such as `pt-BR`, `original` for the title's own, `none` for no words; see "
                    + "[the rule](images.md)"),
        ]
    }
}

/// A list of languages as tags and words.
private struct WrittenLanguages: WrittenSetting {
    static let kind = "list"

    let stored: LanguageList

    init(_ stored: LanguageList) { self.stored = stored }

    init(from decoder: any Decoder) throws {
        guard case .list(let members) = try ConfigurationValue(from: decoder) else {
            throw Self.error("needs a list of languages such as [ko, original, en, none]", decoder)
        }
        do {
            var entries: [LanguageList.Entry] = []
            for member in members {
                guard case .scalar(let text) = member else { throw RequestError.malformed("a language is a text") }
                entries.append(try LanguageList.Entry(text))
            }
            stored = try LanguageList(entries)
        } catch {
            throw Self.error("\(error)", decoder)
        }
    }

    private static func error(_ message: String, _ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: message))
    }

    func printed(_ written: PrintedValue?) -> PrintedValue { .list(stored.entries.map { .text($0.description) }) }
}

extension SourceLimits: ConfigurationSection {
    package static var settings: [Setting<Self>] {
        [
            Setting(
                "time", \.time, as: Interval.self,
                meaning: "timeout of one call of the plugin, including its requests to its service"),
            Setting(
                "calls", \.calls,
                meaning: "concurrent calls; further ones wait if their client has fewer of them, and are refused otherwise"),
            Setting(
                "bytes", \.bytes, as: ByteSize.self, defaultText: "`limits.originBytes`",
                meaning: "maximum size of one download for this source"),
        ]
    }

    package func check() throws(ConfigurationError) {
        guard calls > 0 else { throw ConfigurationError(path: "limits.calls", message: "needs a number from 1") }
        guard time > .zero else { throw ConfigurationError(path: "limits.time", message: "needs a time such as 30s") }
    }
}
