public import OnesheetCore

/// A source that is made of others of the same configuration: their images together, of which the rule chooses, and their texts, each from the
/// first that has it. A title's id is that of one member, the lead; the others are asked by their own ids.
public struct FirstSource: SourcePlugin {
    public static let type = "first"

    /// The lead first.
    public let members: [SourceMember]
    /// In the order of the configuration.
    private let configured: [SourceMember]
    /// Images are fetched by the rules of the member that has them, so there are no rules for others.
    public let originPolicy = OriginPolicy(allow: [], networks: [])
    private let order: [String]
    private let orders: [ImageKind: [String]]
    private let lead: SourceMember
    private let lookup: MemberLookup

    /// - Throws: `ConfigurationError` if there is no such member, if it needs this source itself, or if a value is impossible.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        try configuration.check()
        var members: [SourceMember] = []
        for (path, name) in configuration.named where !members.contains(where: { $0.name.isExactly(name) }) {
            do {
                members.append(SourceMember(name, try context.source(named: name)))
            } catch let error as ConfigurationError {
                throw error.under(path)
            }
        }
        configured = members
        order = configuration.sources
        orders = configuration.kinds
        // A source that shares the ids of another one, such as a folder of own posters, has lists too, but not the ones that are meant.
        let leads = members.filter {
            configuration.sources.contains($0.name) && !configuration.sameIDs.contains($0.name)
        }
        let first = leads.first(where: \.source.capabilities.hasLists) ?? leads.first(where: \.source.capabilities.searches)
        guard let lead = first ?? leads.first else {
            throw ConfigurationError(path: "sameIDs", message: "has all sources; one of them must have the ids")
        }
        self.lead = lead
        self.members = [lead] + members.filter { !$0.name.isExactly(lead.name) }
        lookup = MemberLookup(members: members, lead: lead, configuration: configuration, context: context)
    }

    public var asksService: Bool { members.contains(where: \.source.asksService) }

    public var capabilities: SourceCapabilities {
        var capabilities = lead.source.capabilities
        capabilities.searches = searching != nil
        let naming = members.map(\.source.capabilities).filter(\.namesGenres)
        capabilities.namesGenres = !naming.isEmpty
        // A title has the genres of any of them.
        let languages = Set(naming.map(\.genreLanguage))
        capabilities.genreLanguage = languages.count == 1 ? languages.first ?? nil : nil
        return capabilities
    }

    /// The first member that searches and has the same ids.
    private var searching: SourceMember? {
        if lead.source.capabilities.searches { return lead }
        guard let ids = lead.source.capabilities.ids.first else { return nil }
        return configured.first { $0.source.capabilities.searches && $0.source.capabilities.ids.first == ids }
    }

    public func canonicalID(_ id: String) -> String { lead.source.canonicalID(id) }
    public func isForeign(_ id: String) -> Bool { lead.source.isForeign(id) }
    public func ownID(of id: String) async throws(SourceError) -> String { try await lead.source.ownID(of: id) }

    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        guard query.phrase != nil else { return try await lead.source.titles(query) }
        guard let searching else { throw .unsupported("a search") }
        return try await searching.source.titles(query)
    }

    /// The title of the lead, with what it lacks from the other members, in their order.
    public func title(_ id: String) async throws(SourceError) -> Title {
        let answer = await lookup.ask { [lead] () async throws(SourceError) in try await lead.source.title(id) }
        var title: Title?
        if case .success(let found) = answer { title = found }
        if title?.isWhole != true {
            for place in await lookup.places(of: id, title: answer).found where !place.member.name.isExactly(lead.name) {
                if title?.isWhole == true { break }
                guard order.contains(place.member.name) else { continue }
                let more = await lookup.ask { () async throws(SourceError) in try await place.member.source.title(place.id) }
                guard case .success(let found) = more else { continue }
                title = title?.filled(from: found) ?? found
            }
        }
        guard var title else { return try answer.get() }
        title.id = id
        return title
    }

    /// Those of all members. One that does not answer has none.
    public func genres(in language: LanguageTag?) async throws(SourceError) -> [String: String] {
        var names: [String: String] = [:]
        for member in members where member.source.capabilities.namesGenres {
            let answer = await lookup.ask { () async throws(SourceError) in try await member.source.genres(in: language) }
            guard case .success(let found) = answer else { continue }
            for (id, name) in found { names["\(member.name) \(id)"] = name }
        }
        return names
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let places = await lookup.places(of: id)
        let answers = await lookup.candidates(at: places.found)
        var (lists, failures, isKnown) = ([String: [PosterCandidate]](), places.failures, false)
        for (place, answer) in zip(places.found, answers) {
            switch answer {
            case .success(let list):
                isKnown = true
                lists[place.member.name] = list.map { place.named($0) }
            case .failure(.notFound), .failure(.unsupported): break
            case .failure(let failure): failures.append(failure)
            }
        }
        let merged = merged(lists)
        guard merged.isEmpty else {
            return merged.map { candidate in
                var candidate = candidate
                candidate.isProvisional = !failures.isEmpty
                return candidate
            }
        }
        if let failure = failures.first { throw failure }
        guard isKnown else { throw .notFound(id: id) }
        return []
    }

    /// The candidates of each kind, those of one member after the other, each once.
    private func merged(_ lists: [String: [PosterCandidate]]) -> [PosterCandidate] {
        var seen: Set<ExactText> = []
        var merged: [PosterCandidate] = []
        for kind in ImageKind.allCases {
            var ofKind = (orders[kind] ?? order).map { (lists[$0] ?? []).filter { $0.kind == kind } }
            // Beside images of stated languages, one of a source that states none does not count as one without words.
            if kind.hasText, ofKind.contains(where: \.saysSomething) {
                ofKind = ofKind.map { list in list.saysSomething ? list : list.map(\.inUnknownLanguage) }
            }
            merged += ofKind.joined().filter { seen.insert(ExactText($0.location.name)).inserted }
        }
        return merged
    }
}

extension [PosterCandidate] {
    /// Whether the source says languages or votes of what it knows.
    fileprivate var saysSomething: Bool {
        contains { $0.trust == nil && ($0.language != nil || $0.votes != nil || $0.voteCount != nil) }
    }
}

extension PosterCandidate {
    fileprivate var inUnknownLanguage: PosterCandidate {
        // What a search has found keeps its order, which it would lose.
        guard trust == nil else { return self }
        var candidate = self
        candidate.language = .undetermined
        return candidate
    }
}
