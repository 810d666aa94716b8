import OnesheetCore
import Yams

/// A configuration value in file format, with its keys in order. `config print` prints it.
package enum PrintedValue: Sendable, Equatable {
    /// No value. The text describes the default.
    case absent(String?)
    case text(String)
    case list([PrintedValue])
    case mapping([Entry])

    package struct Entry: Sendable, Equatable {
        let key: String
        var value: PrintedValue
    }

    static func mapping(_ entries: [(String, PrintedValue)]) -> PrintedValue {
        .mapping(entries.map { Entry(key: $0.0, value: $0.1) })
    }

    /// The value of `node`, with unexpanded variables.
    init(_ node: Node) {
        switch node {
        case .scalar(let scalar):
            self = scalar.style == .plain && ["", "~", "null"].contains(scalar.string) ? .absent(nil) : .text(scalar.string)
        case .sequence(let sequence): self = .list(sequence.map { PrintedValue($0) })
        case .mapping(let mapping): self = .mapping(mapping.map { ($0.key.string ?? "", PrintedValue($0.value)) })
        case .alias: self = .absent(nil)
        }
    }

    var keys: [String] { if case .mapping(let entries) = self { entries.map(\.key) } else { [] } }

    subscript(_ key: String) -> PrintedValue? {
        guard case .mapping(let entries) = self else { return nil }
        return entries.first { $0.key == key }?.value
    }

    subscript(_ index: Int) -> PrintedValue? {
        guard case .list(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }
}

extension PrintedValue {
    /// The mapping with `value` under `key`: in place of its present value, or after all other keys.
    func with(_ key: String, _ value: PrintedValue) -> PrintedValue {
        guard case .mapping(var entries) = self else { return self }
        if let index = entries.firstIndex(where: { $0.key == key }) {
            entries[index].value = value
        } else {
            entries.append(Entry(key: key, value: value))
        }
        return .mapping(entries)
    }

    /// The text that `config print` shows in place of a secret. No configuration may use it as a secret.
    static let hiddenText = "(secret)"
    private static let hidden = PrintedValue.text(hiddenText)

    /// A secret as it is written, if that is only variables, also behind a scheme as in `Bearer ${TOKEN}` and with an empty default as in
    /// `${TOKEN:-}`; otherwise `(secret)`. A manifest's own variables are in braces alone: `Bearer {token}`.
    static func secret(_ written: PrintedValue?) -> PrintedValue {
        let variables = /(([A-Za-z]{1,10} )?(\$?\{[A-Za-z0-9_]+(:-)?\}[:.\/_-]?)+)?/
        guard case .text(let text)? = written, text.wholeMatch(of: variables) != nil else { return hidden }
        return .text(text)
    }

    /// The value without a source's possible secrets, by the names of keys.
    var withoutSecrets: PrintedValue { withoutSecrets(named: SecretNames.isOne) }

    private func withoutSecrets(named isSecret: (String) -> Bool) -> PrintedValue {
        switch self {
        case .absent: return self
        // A URL with a password in it, whatever its key is called.
        case .text(let text): return text.contains(/:\/\/[^\/?#\s]*:[^\/?#\s]*@/) ? .secret(self) : self
        case .list(let values): return .list(values.map { $0.withoutSecrets(named: isSecret) })
        case .mapping(let entries):
            return .mapping(
                entries.map { entry in
                    let name = entry.key.lowercased()
                    if isSecret(entry.key) { return Entry(key: entry.key, value: entry.value.hidingTexts) }
                    // The names below these keys are not ours.
                    guard ["variables", "headers", "environment"].contains(name) else {
                        return Entry(key: entry.key, value: entry.value.withoutSecrets(named: isSecret))
                    }
                    return Entry(
                        key: entry.key,
                        value: entry.value.withoutSecrets(named: SecretNames.mayBeOne))
                })
        }
    }

    /// The texts of a configuration that may be secrets although the file has them in plain: those that `withoutSecrets` hides, and long ones
    /// below keys whose names are not ours.
    var secretTexts: [String] { secretTexts(isOpen: true) }

    /// - Parameter isOpen: whether the names around it are ours and none is that of a secret.
    private func secretTexts(isOpen: Bool) -> [String] {
        switch self {
        case .absent: return []
        case .text(let text):
            guard self != Self.secret(self) else { return [] }
            if isOpen { return withoutSecrets == self ? [] : [text] }
            // A scheme such as `Bearer` is no part of the secret.
            return [text] + (text.wholeMatch(of: /[A-Za-z]{1,10} (\S+)/).map { [String($0.1)] } ?? [])
        case .list(let values): return values.flatMap { $0.secretTexts(isOpen: isOpen) }
        case .mapping(let entries):
            return entries.flatMap { entry in
                let isForeign = ["variables", "headers", "environment"].contains(entry.key.lowercased())
                if isForeign, case .mapping(let values) = entry.value {
                    return values.flatMap { value in
                        value.value.secretTexts(isOpen: false).filter { SecretNames.mayBeOne(value.key) || $0.isLikeAKey }
                    }
                }
                return entry.value.secretTexts(isOpen: isOpen && !SecretNames.isOne(entry.key))
            }
        }
    }

    private var hidingTexts: PrintedValue {
        switch self {
        case .absent: self
        case .text: .secret(self)
        case .list(let values): .list(values.map(\.hidingTexts))
        case .mapping(let entries): .mapping(entries.map { Entry(key: $0.key, value: $0.value.hidingTexts) })
        }
    }
}

extension String {
    /// Whether the text may be a key by its form: long, without spaces, and no URL. Languages, regions and sizes are shorter.
    fileprivate var isLikeAKey: Bool { utf8.count >= 12 && !contains(/\s|:\/\//) }
}

extension PrintedValue {
    /// The value as a YAML 1.1 document.
    var yaml: String { lines.joined(separator: "\n") }

    /// The value as inline Markdown.
    var asCode: String {
        switch self {
        case .absent(let words): words ?? "none"
        case .mapping([]), .list([]): "none"
        default: "`\(inline.first == "\"" ? String(inline.dropFirst().dropLast()) : inline)`"
        }
    }

    private var lines: [String] {
        guard case .mapping(let entries) = self else { return [inline] }
        return entries.flatMap { entry -> [String] in
            let key = Self.quoted(entry.key)
            switch entry.value {
            case .mapping(let below) where !below.isEmpty: return ["\(key):"] + entry.value.lines.map { "  " + $0 }
            case .list(let values) where values.contains(where: \.isMapping):
                return ["\(key):"] + values.flatMap { value in value.lines.enumerated().map { ($0 == 0 ? "  - " : "    ") + $1 } }
            case .absent(let words): return ["\(key):" + (words.map { "  # \($0)" } ?? "")]
            case .mapping, .list, .text: return ["\(key): \(entry.value.inline)"]
            }
        }
    }

    private var isMapping: Bool { if case .mapping = self { true } else { false } }

    private var inline: String {
        switch self {
        case .absent: "~"
        case .text(let text): Self.quoted(text)
        case .list(let values): "[" + values.map(\.inline).joined(separator: ", ") + "]"
        case .mapping(let entries): "{" + entries.map { "\(Self.quoted($0.key)): \($0.value.inline)" }.joined(separator: ", ") + "}"
        }
    }

    /// The text, quoted unless every YAML reader accepts it unquoted.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.wholeMatch(of: /[A-Za-z0-9\/_.][A-Za-z0-9\/_.+:-]*/) != nil && text.last != ":"
        if isPlain, !["null", "true", "false", "yes", "no", "on", "off"].contains(text.lowercased()) { return text }
        if ["true", "false"].contains(text) { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case _ where scalar.properties.generalCategory == .control:
                quoted += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
