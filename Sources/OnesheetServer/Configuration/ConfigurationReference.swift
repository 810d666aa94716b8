package import OnesheetCore

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
            "Server",
            [
                "listen", "socketMode", "tls", "trustedAuthorities", "admin", "public", "cors", "serverHeader", "shutdown", "log",
                "accessLog", "tracing",
                "presets", "presetsOnly",
                "dialects", "fallback",
            ]
        ),
        ("Signing", ["signing"]), ("Cache", ["cache"]), ("Several servers", ["shared"]), ("Clients", ["clients"]),
        ("Limits", ["limits"]),
        ("Rendering", ["rendering"]), ("Prefetch", ["prefetch"]), ("Sources", ["sources"]),
    ]

    /// Each heading with its table. The last one has the options that presets and addresses may have.
    package static func markdown(_ plugins: PluginList) -> String {
        (chapters.map { ($0.title, table(of: $0.keys, plugins)) } + [("Options", TransformOption.table)])
            .map { "## \($0)\n\n\($1)" }.joined(separator: "\n")
    }

    /// The table of these keys and all keys below them.
    static func table(of keys: [String], _ plugins: PluginList) -> String {
        let names = [DialectConfiguration.imgproxy] + plugins.dialects.map { $0.name }
        let dialects = names.map { "`\($0)`" }.joined(separator: ", ")
        let settings = ServerConfiguration.settings
        let rows = keys.flatMap { key in settings.filter { $0.key == key }.flatMap { $0.rows(key) } }
        let lines = rows.map { row in
            let meaning = row.path == "dialects" ? "\(dialects): \(row.meaning)" : row.meaning
            return "| `\(row.path)` | \(row.kind) | \(row.defaultText) | \(meaning) |"
        }
        return (["| key | type | default | meaning |", "|---|---|---|---|"] + lines).joined(separator: "\n") + "\n"
    }
}
