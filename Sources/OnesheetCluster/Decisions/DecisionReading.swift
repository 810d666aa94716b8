import FoundationEssentials
import Logging
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import OnesheetPipeline

/// One reading of shared decisions, which are then made here.
struct DecisionReading: Sendable {
    private let decisions: SharedDecisions
    /// Whether this server has never known all decisions. Then its own are added to those in the store.
    private let joins: Bool
    private let isPatient: Bool

    init(_ decisions: SharedDecisions, joins: Bool, isPatient: Bool = true) {
        self.decisions = decisions
        self.joins = joins
        self.isPatient = isPatient
    }

    /// A changed decision, and the entries that it invalidates.
    struct Change: Sendable {
        let notice: DecisionNotice
        let selections: [CacheSelection]
    }

    /// The changes that a read has applied.
    struct Changes: Sendable {
        /// Decisions made here, as in the store.
        var local: [Change] = []
        /// Decisions of this server that are now in the store.
        var shared: [Change] = []
        /// The error that stopped the read; earlier changes remain applied.
        var failure: (any Error)?

        mutating func add(_ other: Changes) {
            local += other.local
            shared += other.shared
            failure = failure ?? other.failure
        }
    }

    private var values: SharedValues { decisions.values }
    private var choices: PosterChoices { decisions.choices }

    /// Reads every decision of the store, and gives it those that only this server has.
    func readAll() async -> Changes {
        var changes = await read([.blocked])
        guard changes.failure == nil else { return changes }
        do {
            try await readPosters(into: &changes)
        } catch {
            changes.failure = error
        }
        return changes
    }

    private func readPosters(into changes: inout Changes) async throws {
        let names = try await values.names(below: SharedDecisions.folder + "/")
        if names.count == SharedValues.mostNames {
            decisions.logger.warning("the store has more than \(names.count) decisions about posters; the others are not read")
        }
        for part in names.split(by: SharedDecisions.atOnce) where changes.failure == nil {
            try Task.checkCancellation()
            changes.add(await inParallel(part) { try await readPoster($0) })
        }
        let inStore = Set(names)
        let own = try await choices.decided().filter { !inStore.contains(SharedDecision.name(of: $0)) }
        for part in own.split(by: SharedDecisions.atOnce) where changes.failure == nil {
            try Task.checkCancellation()
            changes.add(await inParallel(part) { try await readPoster(SharedDecision.name(of: $0), of: $0, gives: true) })
        }
    }

    /// Reads some decisions.
    func read(_ notices: some Sequence<DecisionNotice>) async -> Changes {
        var changes = Changes()
        for part in Array(notices).split(by: SharedDecisions.atOnce) where changes.failure == nil {
            let found = await inParallel(part) { notice in
                switch notice {
                case .poster(let image): try await readPoster(notice.name, of: image)
                case .blocked: try await readBlocked()
                }
            }
            changes.add(found)
        }
        return changes
    }

    /// - Parameters:
    ///   - image: the image; `nil` takes it from the value.
    ///   - gives: whether the store gets the decision of this server if it has none.
    private func readPoster(_ name: String, of image: ImageReference? = nil, gives: Bool = false) async throws -> Changes {
        try await decisions.inTurn(name) {
            let text = try await values.value(name, isPatient: isPatient)
            let stored = text.flatMap { SharedDecision($0, named: name) }
            if text != nil, stored == nil { noteUnreadable(name) }
            guard let image = image ?? stored?.image else { return Changes() }
            let change = Change(notice: .poster(image), selections: [.tag(.title(image.title))])
            let own = try await choices.decision(of: image)
            var (changes, found) = (Changes(), stored?.decision)
            if !own.isEmpty, found == nil ? gives : joins && found != own {
                found = try await values.change(of: image, from: own) { $0.join(own) }
                if found != stored?.decision { changes.shared.append(change) }
            }
            guard let found else { return changes }
            if try await choices.apply(found, for: image).isChanged { changes.local.append(change) }
            return changes
        }
    }

    private func noteUnreadable(_ name: String) {
        decisions.logger.warning("a shared decision is ignored: it cannot be read", metadata: ["value": "\(name)"])
    }

    private func readBlocked() async throws -> Changes {
        let name = DecisionNotice.blocked.name
        return try await decisions.inTurn(name) {
            var changes = Changes()
            let own = BlockedPictures(try await choices.blocked())
            let text = try await values.value(name, isPatient: isPatient)
            let stored = BlockedPictures(text: text)
            if text != nil, stored == nil { noteUnreadable(name) }
            var found = stored
            if joins || found == nil, !own.hashes.isEmpty {
                let text: String?
                do {
                    text = try await values.change(name) { text in
                        BlockedPictures((BlockedPictures(text: text)?.hashes ?? []) + own.hashes).text
                    }
                } catch SharedValueError.unreadable {
                    // It cannot be replaced either. The other decisions are read all the same.
                    return changes
                }
                found = BlockedPictures(text: text)
                let added = (found?.hashes ?? []).filter { !(stored?.hashes.contains($0) ?? false) }
                let selections = added.map { CacheSelection.tag(.picture($0)) }
                if !added.isEmpty { changes.shared.append(Change(notice: .blocked, selections: selections)) }
            }
            guard let found else { return changes }
            // Before they count as known, so that a search is not lost if the process ends.
            try await choices.addSearches(for: found.hashes.filter { !own.hashes.contains($0) })
            let (added, removed) = try await choices.apply(blocked: found.hashes)
            // Again, because a search that began before they were blocked may have missed entries.
            try await choices.addSearches(for: added)
            let selections = (added + removed).map { CacheSelection.tag(.picture($0)) }
            if !selections.isEmpty { changes.local.append(Change(notice: .blocked, selections: selections)) }
            return changes
        }
    }

    private func inParallel<Item: Sendable>(
        _ items: [Item], _ work: @escaping @Sendable (Item) async throws -> Changes
    ) async -> Changes {
        await withTaskGroup(of: Changes.self) { group in
            for item in items {
                group.addTask {
                    do { return try await work(item) } catch { return Changes(failure: error) }
                }
            }
            return await group.reduce(into: Changes()) { $0.add($1) }
        }
    }
}
