import OnesheetCore
import Yams

/// What variables of the environment configure without a file, as the text of a file that names them. A configuration file overrides it
/// key by key; its `sources` replace all of them.
struct EnvironmentConfiguration {
    /// A key that the environment gives if it has the variables.
    private struct Key {
        let path: [String]
        /// All of them are needed.
        let variables: [String]
        let text: String
    }

    private static let keys = [
        Key(path: ["listen"], variables: ["ONESHEET_LISTEN"], text: #"listen: "${ONESHEET_LISTEN}""#),
        Key(
            path: ["cache", "disk", "path"], variables: ["ONESHEET_CACHE"], text: #"cache: { disk: { path: "${ONESHEET_CACHE}" } }"#
        ),
        Key(
            path: ["signing", "keys"], variables: ["ONESHEET_SIGNING_KEY"],
            text: #"signing: { keys: [{ key: "${ONESHEET_SIGNING_KEY}", salt: "${ONESHEET_SIGNING_SALT}" }] }"#),
        Key(path: ["admin", "token"], variables: ["ONESHEET_ADMIN_TOKEN"], text: #"admin: { token: "${ONESHEET_ADMIN_TOKEN}" }"#),
    ]

    /// The first one with lists is what the console opens on.
    private static let sources = [
        Key(
            path: ["sources", "tmdb"], variables: ["TMDB_TOKEN"],
            text: #"tmdb: { type: rest, manifest: tmdb, variables: { token: "${TMDB_TOKEN}" } }"#),
        Key(
            path: ["sources", "tmdb"], variables: ["TMDB_KEY"],
            text: #"tmdb: { type: rest, manifest: tmdb, variables: { key: "${TMDB_KEY}" } }"#),
        Key(
            path: ["sources", "boxoffice"], variables: ["KOBIS_KEY", "KAKAO_KEY"],
            text: #"boxoffice: { type: boxoffice, key: "${KOBIS_KEY}", posters: { type: kakao, key: "${KAKAO_KEY}" } }"#),
        Key(
            path: ["sources", "fanart"], variables: ["FANART_KEY"],
            text: #"fanart: { type: rest, manifest: fanart, variables: { key: "${FANART_KEY}" } }"#),
    ]

    private static let sample = Key(path: ["sources", "sample"], variables: [], text: "sample: { type: sample }")

    /// The text of a file that configures the same.
    let text: String
    /// What to say about the sources: which variables open others.
    let notes: [String]
    private let given: [Key]

    /// - Parameter variables: those that count. An empty one does not.
    init(_ variables: [String: String]) {
        func isSet(_ name: String) -> Bool { variables[name].map { !$0.isEmpty } ?? false }
        var names: Set<String> = []
        // A source is opened once, by the first of its variables.
        let opened = Self.sources.filter { $0.variables.allSatisfy(isSet) && names.insert($0.path[1]).inserted }
        let keys = Self.keys.filter { $0.variables.allSatisfy(isSet) }
        given = keys + (opened.isEmpty ? [Self.sample] : opened)
        text = (keys.map(\.text) + ["sources:"] + given.dropFirst(keys.count).map { "  \($0.text)" }).joined(separator: "\n") + "\n"
        let halves = Self.sources.filter { $0.variables.contains(where: isSet) && !$0.variables.allSatisfy(isSet) }
        notes =
            halves.map { half in
                let missing = half.variables.filter { !isSet($0) }
                return "“\(half.path[1])” is not served: it needs \(missing.joined(separator: " and ")) too"
            }
            + (opened.isEmpty
                ? [
                    """
                    No source is configured, so this is the sample. Set \
                    \(Self.sources.map { $0.variables.joined(separator: " with ") }.joined(separator: ", or ")) in the environment, or \
                    write onesheet.yaml (`onesheet sources sample TYPE` prints its lines)
                    """
                ] : [])
    }

    /// `node`, with what it does not say itself.
    /// - Returns: also the variables behind the keys that were added, by path.
    func completing(_ node: Node?) throws -> (node: Node?, added: [String: String]) {
        guard let own = try Yams.compose(yaml: text)?.mapping else { return (node, [:]) }
        // A document that is no mapping is refused as it is.
        guard let written = node.map(\.mapping) ?? Node.Mapping([]) else { return (node, [:]) }
        var added: [String: String] = [:]
        let merged = Self.merged(written, own, at: []) { path in
            for key in given where key.path.starts(with: path) {
                added[key.path.joined(separator: ".")] = key.variables.first ?? "no source is configured"
            }
        }
        return (.mapping(merged), added)
    }

    private static func merged(
        _ written: Node.Mapping, _ own: Node.Mapping, at path: [String], adding: ([String]) -> Void
    ) -> Node.Mapping {
        var merged = written
        for (key, value) in own {
            let inner = path + [key.string ?? ""]
            guard let present = written[key] else {
                merged[key] = value
                adding(inner)
                continue
            }
            guard inner != ["sources"], let below = present.mapping, let ours = value.mapping else { continue }
            merged[key] = .mapping(Self.merged(below, ours, at: inner, adding: adding))
        }
        return merged
    }
}
