/// One key in the reference.
package struct ReferenceRow: Sendable, Equatable {
    /// The keys from the top, joined with dots; `[]` stands for each place of a list, `NAME` for each name of a map.
    let path: String
    let kind: String
    /// What holds without the key.
    let standard: String
    let meaning: String
}

/// Every key with its type, default and meaning, as tables in Markdown: `docs/configuration.md` has them, and a test compares.
package enum ConfigurationReference {
    /// The headings, and the keys of the first level below each.
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

    /// The table of these keys and of all below them.
    static func table(of keys: [String]) -> String {
        let settings = ServerConfiguration.settings
        let rows = keys.flatMap { key in settings.filter { $0.key == key }.flatMap { $0.rows(key) } }
        let lines = rows.map { "| `\($0.path)` | \($0.kind) | \($0.standard) | \($0.meaning) |" }
        return (["| key | type | default | meaning |", "|---|---|---|---|"] + lines).joined(separator: "\n") + "\n"
    }
}
