/// A source of the configuration that another one is made of.
public struct SourceMember: Sendable {
    /// Its name in the configuration.
    public let name: String
    public let source: any ContentSource

    public init(_ name: String, _ source: any ContentSource) {
        self.name = name
        self.source = source
    }
}

/// The ids that a title has at members of its source, by the name of the member. `none` says that a member does not have it.
package typealias StatedMatches = [String: String]

extension ContentSource {
    /// The rules for fetching an image: those of the member that has it. Without such a member, those of the source itself.
    /// - Parameter title: what `CandidateFacts.source` or `Provenance.source` says.
    package func originPolicy(of title: String?) -> OriginPolicy {
        guard let title, let name = TitleReference(written: title)?.source else { return originPolicy }
        return member(name)?.originPolicy ?? originPolicy
    }

    /// The member of this name, or the member of a member.
    private func member(_ name: String) -> (any ContentSource)? {
        for member in members {
            if member.name.isExactly(name) { return member.source }
            if let inner = member.source.member(name) { return inner }
        }
        return nil
    }
}

/// The ids of a database, and how a source writes them: `350903` of `tvdb` is `series-350903`.
public struct DatabaseIDs: Sendable, Equatable {
    /// `imdb`, `tmdb`, `tvdb`, `kobis`, `kmdb`, `trakt`, `anilist`, `wikidata`.
    public let database: String
    /// What precedes an id.
    public let prefix: String

    public init(_ database: String, prefix: String = "") {
        self.database = database
        self.prefix = prefix
    }

    /// How the source writes `id`; `nil` if it is none of this form, such as that of a show where only films have one.
    public func written(_ id: String) -> String? { isID(id[...]) ? prefix + id : nil }

    /// The id in the database that `written` is; `nil` if it has another form.
    public func id(of written: String) -> String? {
        guard written.utf8.starts(with: prefix.utf8) else { return nil }
        let id = Substring(written.utf8.dropFirst(prefix.utf8.count))
        return isID(id) ? String(id) : nil
    }

    /// Letters and digits, in which only IMDb's are `tt` and a number.
    private func isID(_ id: Substring) -> Bool {
        let isTitle = id.utf8.starts(with: "tt".utf8)
        guard database != "imdb" else {
            return isTitle && id.utf8.count > 2 && id.utf8.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) }
        }
        return !id.isEmpty && !isTitle
            && id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
    }
}
