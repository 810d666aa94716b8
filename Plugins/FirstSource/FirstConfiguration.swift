public import OnesheetCore

extension FirstSource {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The names of the members, in order.
        public var sources: [String]
        /// Other members, or another order, for the images of a kind.
        public var kinds: [ImageKind: [String]] = [:]
        /// Members that have the same ids as the lead.
        public var sameIDs: [String]
        /// The least score of a match that is believed; see `TitleMatch`.
        public var leastScore: Double
        /// Stated ids: by the id of the title, by the name of the member. `none` says that the member does not have it.
        public var statedIDs: [String: [String: String]]
        /// How long one answer of a member is waited for.
        public var wait: Duration

        private enum CodingKeys: CodingKey { case sources, sameIDs, match, wait }

        private enum MatchKeys: CodingKey { case atLeast, titles }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            let byKind = try decoder.container(keyedBy: ImageKind.self)
            for kind in ImageKind.allCases { kinds[kind] = try byKind.decodeIfPresent([String].self, forKey: kind) }
            sameIDs = try keys.decodeIfPresent([String].self, forKey: .sameIDs) ?? []
            wait = try keys.decodeIfPresent(Interval.self, forKey: .wait)?.duration ?? .seconds(8)
            let match = keys.contains(.match) ? try keys.nestedContainer(keyedBy: MatchKeys.self, forKey: .match) : nil
            leastScore = try match?.decodeIfPresent(Double.self, forKey: .atLeast) ?? TitleMatch.leastScore
            statedIDs = try match?.decodeIfPresent([String: [String: String]].self, forKey: .titles) ?? [:]
            // Required keys come last, so that errors in the others are told if one is missing.
            sources = try keys.decode([String].self, forKey: .sources)
        }

        /// All names of members with their places, those of `sources` first.
        var named: [(path: String, name: String)] {
            func places(_ names: [String], _ key: String) -> [(String, String)] {
                names.enumerated().map { ("\(key).[\($0)]", $1) }
            }
            return places(sources, "sources") + ImageKind.allCases.flatMap { places(kinds[$0] ?? [], $0.rawValue) }
        }

        /// - Throws: `ConfigurationError` for the first impossible value.
        func check() throws(ConfigurationError) {
            guard !sources.isEmpty else { throw ConfigurationError(path: "sources", message: "is empty; it names other sources") }
            for (key, names) in [("sources", sources)] + kinds.map({ ($0.rawValue, $1) }).sorted(by: { $0.0 < $1.0 }) {
                for (index, name) in names.enumerated() where names.firstIndex(of: name) != index {
                    throw ConfigurationError(path: "\(key).[\(index)]", message: "“\(name)” is named twice")
                }
            }
            let known = named.map(\.name)
            func check(_ name: String, at path: String) throws(ConfigurationError) {
                if known.contains(name) { return }
                throw ConfigurationError(path: path, message: unknownName(name, kind: "member", known: Set(known)))
            }
            for (index, name) in sameIDs.enumerated() { try check(name, at: "sameIDs.[\(index)]") }
            for (id, members) in statedIDs.sorted(by: { $0.key < $1.key }) {
                for name in members.keys.sorted() { try check(name, at: "match.titles.\(id)") }
            }
            guard (0...1).contains(leastScore) else {
                throw ConfigurationError(path: "match.atLeast", message: "needs a number from 0 to 1")
            }
            guard wait > .zero else { throw ConfigurationError(path: "wait", message: "needs a time such as 8s") }
        }
    }

    public static let sampleConfiguration = """
        type: first
        # Other sources of this configuration. Their images are one list, of which the rule chooses (docs/images.md); equal ones by this order.
        # Texts come from the first that has them. Ids and lists are those of the first with lists, without “sameIDs”.
        sources: [tmdb, fanart, kmdb]
        # Other members, or another order, for one kind: poster, season, backdrop, logo, still, profile, banner.
        logo: [fanart, tmdb]
        # Members with the same ids as the first, such as a folder of own posters with names like 550.jpg.
        # sameIDs: [mine]
        # A member that does not take the ids of a title is searched for it. The least score that is believed, from 0 to 1; and ids that you
        # state, by the id of the title: none, if a member does not have it.
        match: { atLeast: 0.7, titles: { "20124079": { tmdb: "153397", kmdb: none } } }
        # How long one answer of a member is waited for. After that, the others' images count for five minutes.
        wait: 8s
        """
}
