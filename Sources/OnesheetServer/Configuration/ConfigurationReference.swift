/// One key in the reference.
package struct ReferenceRow: Sendable, Equatable {
    /// The keys from the top, joined with dots. `[]` stands for each element of a list, `NAME` for each key of a map.
    let path: String
    let kind: String
    /// The default.
    let defaultText: String
    let meaning: String
}

/// Every key with its type, default and meaning, as Markdown tables for `docs/configuration.md`. A test compares the two.
package enum ConfigurationReference {
    /// The headings, and the top-level keys of each.
    static let chapters: [(title: String, keys: [String])] = [
        (
            "Server", ["listen", "socketMode", "tls", "admin", "cors", "shutdown", "log", "presets", "presetsOnly", "dialects"]
        ),
        ("Signing", ["signing"]), ("Cache", ["cache"]), ("Clients", ["clients"]), ("Limits", ["limits"]),
        ("Rendering", ["rendering"]), ("Prefetch", ["prefetch"]), ("Sources", ["sources"]),
    ]

    /// Each heading with its table.
    package static var markdown: String {
        chapters.map { "## \($0.title)\n\n\(table(of: $0.keys))" }.joined(separator: "\n")
    }

    /// The table of these keys and all keys below them.
    static func table(of keys: [String]) -> String {
        let settings = ServerConfiguration.settings
        let rows = keys.flatMap { key in settings.filter { $0.key == key }.flatMap { $0.rows(key) } }
        let lines = rows.map { "| `\($0.path)` | \($0.kind) | \($0.defaultText) | \($0.meaning) |" }
        return (["| key | type | default | meaning |", "|---|---|---|---|"] + lines).joined(separator: "\n") + "\n"
    }
}
