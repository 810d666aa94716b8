internal import OnesheetCore

/// Finds the ids of a title at the members, with as few calls as possible, and asks the members.
struct MemberLookup: Sendable {
    /// A member, and the id of the title there.
    struct Place: Sendable {
        let member: SourceMember
        let id: String
        /// Why it is the same title, if not by an id.
        var match: String?
    }

    struct Places: Sendable {
        /// In the order of the members. Members without the title are left out.
        var found: [Place] = []
        /// Why some members could not be asked.
        var failures: [SourceError] = []
    }

    private let members: [SourceMember]
    private let lead: SourceMember
    private let sameIDs: [String]
    /// By the configuration, and by the administrator, who precedes it.
    private let statedIDs: [String: [String: String]]
    private let idsOfAdministrator: @Sendable (_ id: String) async -> StatedMatches
    private let leastScore: Double
    private let wait: Duration

    init(members: [SourceMember], lead: SourceMember, configuration: FirstSource.Configuration, context: PluginContext) {
        self.members = members
        self.lead = lead
        sameIDs = configuration.sameIDs
        statedIDs = configuration.statedIDs
        idsOfAdministrator = context.statedMatches
        leastScore = configuration.leastScore
        wait = configuration.wait
    }

    /// The answer of a member, or the failure of one that does not answer in time.
    func ask<Value: Sendable>(
        _ question: @escaping @Sendable () async throws(SourceError) -> Value
    ) async -> Result<Value, SourceError> {
        let answer = await withTimeoutAbandoning(wait) { () async -> Result<Value, SourceError> in
            do throws(SourceError) { return .success(try await question()) } catch { return .failure(error) }
        }
        return answer ?? .failure(.unavailable(reason: Task.isCancelled ? "cancelled" : "no answer in \(wait)"))
    }

    /// The candidates at each place, in the same order; all are asked at the same time.
    func candidates(at places: [Place]) async -> [Result<[PosterCandidate], SourceError>] {
        await atOnce(places) { place in
            await ask { () async throws(SourceError) in try await place.member.source.candidates(for: place.id) }
        }
    }

    /// The places of the title that the lead calls `id`.
    /// - Parameter title: the title of the lead, if it has been asked.
    func places(of id: String, title: Result<Title, SourceError>? = nil) async -> Places {
        var search = Search(members: members, ids: databaseIDs(of: id, at: lead))
        search.places[lead.name] = Place(member: lead, id: id)
        for member in members where sameIDs.contains(member.name) { search.places[member.name] = Place(member: member, id: id) }
        search.state(statedIDs[id] ?? [:], by: "stated in the configuration")
        search.state(await idsOfAdministrator(id), by: "stated by the administrator")
        search.placeByIDs(databaseIDs)
        if !search.open.isEmpty { await findByTitle(title, of: id, &search) }
        let failures =
            search.failures + members.filter { search.places[$0.name] == nil }.compactMap { search.failedSearches[$0.name] }
        return Places(found: members.compactMap { search.places[$0.name] }, failures: failures)
    }

    /// Finds what is open by the ids that the lead knows of the title, then by searches for it, then by the ids that these titles have.
    private func findByTitle(_ asked: Result<Title, SourceError>?, of id: String, _ search: inout Search) async {
        var answer = asked
        if answer == nil { answer = await ask { [lead] () async throws(SourceError) in try await lead.source.title(id) } }
        switch answer {
        case .success(let title)?:
            search.note(title.ids)
            search.placeByIDs(databaseIDs)
            await findBySearch(for: title, &search)
        case .failure(.notFound)?, .failure(.unsupported)?, nil: return
        case .failure(let failure)?: search.failures.append(failure)
        }
        let known = search.open.isEmpty ? [] : search.places.values.filter { !$0.member.name.isExactly(lead.name) }
        for place in known.sorted(by: { $0.member.name < $1.member.name }) where search.takesFurtherIDs {
            let more = await ask { () async throws(SourceError) in try await place.member.source.title(place.id) }
            switch more {
            case .success(let title):
                search.note(title.ids)
                search.placeByIDs(databaseIDs)
            case .failure(.notFound), .failure(.unsupported): continue
            case .failure(let failure): search.failures.append(failure)
            }
        }
    }

    private func findBySearch(for title: Title, _ search: inout Search) async {
        let searching = search.open.filter(\.source.capabilities.searches)
        let matches = await atOnce(searching) { await match(of: title, at: $0) }
        for (member, match) in zip(searching, matches) {
            switch match {
            case .success(nil): continue
            case .success(let match?):
                search.places[member.name] = Place(member: member, id: match.title.id, match: match.words)
                search.note(match.title.ids)
                search.note(databaseIDs(of: match.title.id, at: member))
            case .failure(let failure): search.failedSearches[member.name] = failure
            }
        }
        search.placeByIDs(databaseIDs)
    }

    /// The same title at `member`, by its name, or else by its original one; `nil` if none is believed to be.
    private func match(of title: Title, at member: SourceMember) async -> Result<TitleMatch?, SourceError> {
        var phrases = [title.name]
        if let original = title.originalName, original != title.name { phrases.append(original) }
        for phrase in phrases {
            let page = await ask { () async throws(SourceError) in try await member.source.titles(TitleQuery(phrase: phrase)) }
            switch page {
            case .success(let page):
                if let match = TitleMatch.best(of: page.titles, for: title, atLeast: leastScore) { return .success(match) }
            case .failure(.notFound), .failure(.unsupported): continue
            case .failure(let failure): return .failure(failure)
            }
        }
        return .success(nil)
    }

    /// The ids that `id` itself says.
    private func databaseIDs(of id: String, at member: SourceMember) -> [String: String] {
        for form in member.source.capabilities.ids { if let own = form.id(of: id) { return [form.database: own] } }
        return [:]
    }

    private func atOnce<Element: Sendable, Answer: Sendable>(
        _ elements: [Element], _ ask: @escaping @Sendable (Element) async -> Answer
    ) async -> [Answer] {
        await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, element) in elements.enumerated() { group.addTask { (index, await ask(element)) } }
            var answers: [(Int, Answer)] = []
            for await answer in group { answers.append(answer) }
            // The order of arrival means nothing.
            return answers.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

/// The state of a lookup.
private struct Search {
    let members: [SourceMember]
    /// The known ids of the title, by database.
    var ids: [String: String]
    var places: [String: MemberLookup.Place] = [:]
    /// Members whose id is stated, or of which it is stated that they do not have the title.
    var absent: Set<String> = []
    var failures: [SourceError] = []
    /// By the names of the members. They matter only if no id leads there.
    var failedSearches: [String: SourceError] = [:]

    /// The members whose id is not known yet.
    var open: [SourceMember] { members.filter { places[$0.name] == nil && !absent.contains($0.name) } }

    /// Whether an open member takes ids that are not known.
    var takesFurtherIDs: Bool { open.contains { $0.source.capabilities.ids.contains { ids[$0.database] == nil } } }

    /// Places the members whose ids are stated.
    mutating func state(_ ids: StatedMatches, by words: String) {
        for (name, id) in ids {
            guard let member = members.first(where: { $0.name.isExactly(name) }) else { continue }
            absent.insert(name)
            places[name] = id == "none" ? nil : MemberLookup.Place(member: member, id: member.source.canonicalID(id), match: words)
        }
    }

    /// The first that is known of a database counts.
    mutating func note(_ more: [String: String]) { ids.merge(more) { known, _ in known } }

    /// Places the open members that take an id that is known.
    mutating func placeByIDs(_ databaseIDs: (String, SourceMember) -> [String: String]) {
        for member in open {
            for form in member.source.capabilities.ids {
                guard let id = ids[form.database].flatMap(form.written) else { continue }
                places[member.name] = MemberLookup.Place(member: member, id: id)
                note(databaseIDs(id, member))
                break
            }
        }
    }
}

extension MemberLookup.Place {
    /// The candidate with its place.
    func named(_ candidate: PosterCandidate) -> PosterCandidate {
        var candidate = candidate
        // The images of a member that has members itself are those of its members.
        if member.source.members.isEmpty { candidate.source = TitleReference(source: member.name, id: id).description }
        candidate.match = [match, candidate.match].compactMap { $0 }.joined(separator: "; ").nonEmpty
        candidate.site = candidate.site ?? member.name
        return candidate
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
