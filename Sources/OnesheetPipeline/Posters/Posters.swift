package import FoundationEssentials
import Logging
import NIOCore
import OnesheetCache
package import OnesheetCore
package import OnesheetImaging

/// The poster of a title and its other candidates. Anyone may read them; the administrator decides.
package struct Posters: Sendable {
    private let catalog: Catalog
    private let pipeline: Pipeline
    private let choices: PosterChoices
    private let decisions: any PosterDecisions

    /// - Parameter decisions: makes the decisions in `choices`; `nil` if this server decides alone.
    package init(catalog: Catalog, pipeline: Pipeline, choices: PosterChoices, decisions: (any PosterDecisions)? = nil) {
        self.catalog = catalog
        self.pipeline = pipeline
        self.choices = choices
        self.decisions = decisions ?? choices
    }

    /// The candidates of a title according to its source, at most an hour old. If the source cannot answer, the candidates of the
    /// last answer.
    package func choice(of image: ImageReference) async throws -> PosterChoice { try await candidates(of: image).choice }

    /// The same, without the candidates that its source cannot tell at present.
    package func knownChoice(of image: ImageReference) async throws -> PosterChoice {
        do { return try await choice(of: image) } catch let error as Failure where error != .cancelled {
            return try await choices.choice(of: image)
        }
    }

    /// The choice as `choice(of:)` returns it, and the candidates of the source, or the reason for which it cannot answer.
    private func candidates(
        of image: ImageReference
    ) async throws -> (choice: PosterChoice, listed: Result<[RankedCandidate], Failure>) {
        let known = try await choices.choice(of: image)
        let candidates: [RankedCandidate]
        do throws(Failure) {
            candidates = try await catalog.candidates(for: image)
        } catch {
            guard error.traits.contains(.allowsStale), !known.candidates.isEmpty else { throw error }
            return (known, .failure(error))
        }
        var seen = known
        seen.see(candidates)
        // Store the list, because a later search may return other candidates and the numbers must keep their meaning.
        if seen != known, candidates.contains(where: { $0.candidate.trust != nil }) {
            seen = try await choices.change(image) { $0.see(candidates) }
        }
        return (seen, .success(candidates))
    }

    /// The request for the picture of a candidate, as a preview before a choice. Its image is cached like a variant and removed
    /// with the title.
    /// - Parameter number: from 1, as in `choice(of:)`.
    /// - Throws: `Failure.unknownCandidate` if there is no such candidate.
    package func request(for number: Int, of image: ImageReference, as transform: Transform) async throws -> ImageRequest {
        let (choice, listed) = try await candidates(of: image)
        guard let entry = choice.candidate(number) else {
            throw Failure.unknownCandidate(number, among: choice.candidates.count, of: image.title)
        }
        guard let candidate = try listed.get().map(\.candidate).first(where: { $0.location.name.isExactly(entry.name) }) else {
            throw Failure.noImage(image)
        }
        return ImageRequest(image, transform, of: candidate)
    }

    /// The present poster's picture, if it has been fetched. If its hash is not known yet, that costs a miss of the client: the picture is read
    /// and decoded once.
    package func current(_ image: ImageReference) async throws(Failure) -> PosterProvenance? {
        let (cache, pool) = (pipeline.cache, pipeline.pool)
        let key = ImageRequest.originalKey(image)
        guard let head = await cache.head(of: key, into: ReadingMemory(of: pool.reading)) else { return nil }
        if let hash = pipeline.originals.knownHash(of: head.entry) { return PosterProvenance(head.entry, size: head.size, hash) }
        try WorkContext.current.countMiss()
        guard let found = try await CountedHit(key, in: cache, counting: pool.reading, pool: pool) else { return nil }
        let hash = try await pipeline.originals.hash(of: Original(entry: found.hit.entry, reservation: found.reservation))
        return PosterProvenance(found.hit.entry, size: found.hit.size, hash)
    }

    /// Makes a candidate the poster, from the next request on.
    /// - Parameter number: from 1, as in `choice(of:)`.
    /// - Throws: `Failure.unknownCandidate` if there is no such candidate.
    package func pin(_ number: Int, of image: ImageReference) async throws -> PosterChoice {
        let name = try await name(number, of: image)
        return try await decide(image) { $0.pin(name) }
    }

    /// Excludes a candidate from future choices.
    package func reject(_ number: Int, of image: ImageReference) async throws -> PosterChoice {
        let name = try await name(number, of: image)
        return try await decide(image) { $0.reject(name) }
    }

    /// States what a title is at members of its source, for all of its images.
    /// - Parameter ids: by the name of the member; `none` if it does not have the title, and `nil` to take a statement back.
    /// - Returns: the members that could not be asked whether they have that id.
    /// - Throws: `Failure.unknownMember` if there is no such member, and `.unknownMatch` if one does not have the id. Then nothing is stated.
    package func match(_ title: TitleReference, as ids: [String: String?]) async throws -> [String] {
        try checkMembers(ids.keys, of: title)
        catalog.know(title)
        let stated = try catalog.source(title.source).members.compactMap { member -> (id: String, member: SourceMember)? in
            (ids[member.name] ?? nil).flatMap { $0 == "none" ? nil : (id: $0, member: member) }
        }
        let answers = await withTaskGroup(of: (index: Int, has: Bool?).self) { group in
            for (index, (id, member)) in stated.enumerated() { group.addTask { (index, await has(id, member)) } }
            return await group.reduce(into: [Bool?](repeating: nil, count: stated.count)) { $0[$1.index] = $1.has }
        }
        for ((id, member), has) in zip(stated, answers) where has == false { throw Failure.unknownMatch(id, at: member.name) }
        _ = try await decide(ImageReference(title)) { $0.match(ids) }
        return zip(stated, answers).compactMap { $1 == nil ? $0.member.name : nil }
    }

    /// Whether a member has images or a title of this id; `nil` if it does not answer.
    private func has(_ id: String, _ member: SourceMember) async -> Bool? {
        let id = member.source.canonicalID(id)
        catalog.know(TitleReference(source: member.name, id: id))
        do throws(SourceError) {
            if try await !member.source.candidates(for: id).isEmpty { return true }
        } catch {
            guard error.saysThatThereIsNone else { return nil }
        }
        do throws(SourceError) {
            _ = try await member.source.title(id)
            return true
        } catch {
            return error.saysThatThereIsNone ? false : nil
        }
    }

    private func checkMembers(_ names: some Sequence<String>, of title: TitleReference) throws {
        // The first has the same ids, of which there is nothing to state.
        let members = try catalog.source(title.source).members.dropFirst().map(\.name)
        for name in names.sorted() where !members.contains(where: { $0.isExactly(name) }) {
            throw Failure.unknownMember(name, of: title.source, known: members)
        }
    }

    /// Replaces the decision `before` with `decision`, to undo a change.
    /// - Throws: `Failure.changedDecision` if the decision is not `before` any more, and `.unknownCandidate` for a pin without one.
    package func decide(_ decision: PosterDecision, insteadOf before: PosterDecision, for image: ImageReference) async throws {
        if !decision.matches.isEmpty { try checkMembers(decision.matches.keys, of: image.title) }
        if let pinned = decision.pinned {
            let known = try await choice(of: image).candidates
            guard known.contains(where: { $0.name.isExactly(pinned.description) }) else {
                throw Failure.unknownCandidate(pinned.description, of: image.title)
            }
        }
        _ = try await decide(image) { present in
            guard present == before else { throw Failure.changedDecision(image.title) }
            present = decision
        }
    }

    /// Forgets pins, rejections and matches. The next request chooses again.
    package func forget(_ image: ImageReference) async throws {
        try await decisions.forget(image)
        try await purge(image)
    }

    /// Blocks the picture that is the poster at present, for all titles and in all sizes.
    /// - Parameter source: the source of the title.
    /// - Throws: `Failure.noImage` if there is none.
    package func block(_ image: ImageReference, from source: any ContentSource) async throws -> PerceptualHash {
        let original = try await pipeline.originals.original(of: image, from: source, at: await pipeline.cache.generation())
        let hash = try await pipeline.originals.hash(of: original)
        try await setBlocked(true, for: hash, of: image.title)
        return hash
    }

    /// Blocks or unblocks a picture. If it is blocked, then purges the titles that show it.
    /// - Parameter title: a title that shows it, whose entries may not have the picture's tag.
    package func setBlocked(_ isBlocked: Bool, for hash: PerceptualHash, of title: TitleReference? = nil) async throws {
        try await decisions.setBlocked(isBlocked, for: hash)
        // An unblocked picture purges too, so that other processes notice that titles without a poster may have one.
        let selections = [CacheSelection.tag(.picture(hash))] + (title.map { [.tag(.title($0))] } ?? [])
        let purge = try await pipeline.cache.purge(selections, on: .allServers(notices: [DecisionNotice.blocked.tag]))
        if isBlocked { try await removeAll(showing: hash) }
        _ = try purge.finished()
    }

    /// Purges the titles in the cache that show a picture. A background task completes even if the client leaves. If too many are
    /// running, this task does the work.
    /// - Throws: also the failure of an unfinished purge, after all titles.
    private func removeAll(showing hash: PerceptualHash) async throws {
        let search = PictureSearch(pipeline: pipeline)
        try await WorkContext.with({ $0.urgency = .prefetch }) {
            let work = { @Sendable in
                if let rest = try await search.purge([hash]) { throw rest.failure }
            }
            guard let task = pipeline.background.start(.block(hash), work) else { return try await work() }
            try await task.value
        }
    }

    /// Searches the tiers of this server for titles that show pictures that other servers have blocked, and purges these titles on all
    /// servers: the shared store may have their variants without their originals.
    /// - Throws: if the search is not complete. It stays due.
    package func searchForBlockedPictures() async throws {
        guard case let due = try await choices.searches(), !due.isEmpty else { return }
        let search = PictureSearch(pipeline: pipeline, includesShared: false)
        try await WorkContext.with({ $0.urgency = .prefetch }) {
            // Servers that cannot be told of a purge are told later, and no server serves objects that remain.
            _ = try await search.purge(due.map(\.picture))
        }
        try await choices.removeSearches(due)
    }

    /// The blocked pictures.
    package func blocked() async throws -> [PerceptualHash] { try await choices.blocked() }

    private func name(_ number: Int, of image: ImageReference) async throws -> String {
        catalog.know(image.title)
        var choice = try await choices.choice(of: image)
        if choice.candidates.isEmpty { choice = try await self.choice(of: image) }
        guard let candidate = choice.candidate(number) else {
            throw Failure.unknownCandidate(number, among: choice.candidates.count, of: image.title)
        }
        return candidate.name
    }

    private func decide(
        _ image: ImageReference, _ body: @escaping @Sendable (inout PosterDecision) throws -> Void
    ) async throws -> PosterChoice {
        let choice = try await decisions.decide(image, body)
        try await purge(image)
        return choice
    }

    /// Purges a title whose decision has changed, and announces both to the other servers.
    private func purge(_ image: ImageReference) async throws {
        _ = try await pipeline.cache.purge(
            [.tag(.title(image.title))], on: .allServers(notices: [DecisionNotice.poster(image).tag])
        )
        .finished()
    }
}

extension SourceError {
    /// Whether the source has answered, and has no such thing.
    fileprivate var saysThatThereIsNone: Bool {
        switch self {
        case .notFound, .unsupported: true
        default: false
        }
    }
}

/// The provenance of a poster.
package struct PosterProvenance: Sendable, Encodable {
    package var name: String
    package let page: String?
    package let site: String?
    package let fetched: Date
    package let mediaType: String
    package let bytes: Int
    /// The hash, for blocking the picture.
    package let hash: String

    fileprivate init(_ entry: CacheEntry, size: Int, _ hash: PerceptualHash) {
        name = entry.provenance.location ?? ""
        page = entry.provenance.page
        site = entry.provenance.site
        fetched = entry.created
        mediaType = entry.mediaType
        bytes = size
        self.hash = hash.description
    }
}

extension Failure {
    /// The administrator has decided otherwise meanwhile.
    static func changedDecision(_ title: TitleReference) -> Failure {
        Failure(
            blame: .request, status: .conflict, title: "Changed meanwhile",
            message: "the decision about the poster of \(shown(title)) has changed meanwhile; nothing was changed")
    }

    /// The source is not made of a source of this name.
    static func unknownMember(_ name: String, of source: String, known: [String]) -> Failure {
        Failure(
            blame: .request, status: .badRequest, title: "Bad request",
            message: known.isEmpty
                ? "the source “\(source)” is not made of several, so its titles are not matched"
                : unknownName(name.shortened(to: 64), kind: "member of “\(source)”", known: known, listsAll: true))
    }

    /// A member has no title of this id.
    static func unknownMatch(_ id: String, at member: String) -> Failure {
        Failure(
            blame: .request, status: .badRequest, title: "Bad request",
            message: """
                “\(member)” has no title “\(shown(id: id))”; nothing was stated (“none” says that it has no such title). If it got the title \
                within a day, purge its source and state it again
                """)
    }

    /// There is no candidate of this name.
    static func unknownCandidate(_ name: String, of title: TitleReference) -> Failure {
        Failure(
            blame: .request, status: .notFound, title: "Not found",
            message: "\(shown(title)) has no candidate “\(shown(id: name))”")
    }

    /// There is no candidate of this number.
    static func unknownCandidate(_ number: Int, among count: Int, of title: TitleReference) -> Failure {
        Failure(
            blame: .request, status: .notFound, title: "Not found",
            message: count == 0
                ? "\(shown(title)) has no candidates" : "candidate \(number): \(shown(title)) has 1 to \(count)")
    }
}
