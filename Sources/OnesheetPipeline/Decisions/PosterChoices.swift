import FoundationEssentials
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
import Synchronization

/// The stored choices of posters and other images: one for each image of a title, and the blocked pictures. They survive restarts.
package struct PosterChoices: Sendable {
    private let state: StatePart
    private let limit: Int
    private let changes = Counter()
    private static let blockedKey = "blocked"
    private static let searchesKey = "searches"
    private static let sharedKey = "shared"
    private static let titleKey = "title "
    /// A choice without a decision. Earlier versions wrote no matches.
    private static let undecided = ValueForm(
        containing: ["\"isPinned\":false", "\"rejected\":[]"], lacking: ["\"matches\":{\""])
    /// The number of changes between two checks of the total size.
    private static let trimming = 100

    /// - Parameter limit: the approximate bytes of all choices. Beyond it, choices without a decision of the administrator are
    ///   removed, and made again when their titles are requested.
    package init(_ store: StateStore, limit: Int = 64 << 20) {
        state = store.part("posters")
        self.limit = limit
    }

    /// The stored choice for `image`; an empty one if there is none.
    package func choice(of image: ImageReference) async throws -> PosterChoice {
        try await state.value(for: Self.key(image)).map(Self.read) ?? PosterChoice()
    }

    /// The stored choice for `image`, if one is asked for, and the blocked pictures.
    func choiceAndBlocked(of image: ImageReference?) async throws -> (choice: PosterChoice, blocked: [PerceptualHash]) {
        let texts = try await state.values(for: [Self.blockedKey] + (image.map { [Self.key($0)] } ?? []))
        let choice = try texts.count > 1 ? texts[1].map(Self.read) : nil
        return (choice ?? PosterChoice(), Self.hashes(texts[0]))
    }

    /// Changes the stored choice for `image` in one atomic step.
    @discardableResult
    package func change(
        _ image: ImageReference, _ body: @escaping @Sendable (inout PosterChoice) throws -> Void
    ) async throws -> PosterChoice {
        let text = try await state.change(Self.key(image)) { text in
            var choice = try text.map(Self.read) ?? PosterChoice()
            try body(&choice)
            return try Self.write(choice)
        }
        // Titles can be made up without end, and each one that a search finds pictures for has a choice.
        if changes.next() % Self.trimming == 0 {
            try await state.trim(above: limit, like: Self.undecided)
        }
        return try text.map(Self.read) ?? PosterChoice()
    }

    /// Forgets the choice for `image`.
    package func forget(_ image: ImageReference) async throws { try await state.set(nil, for: Self.key(image)) }

    /// The blocked pictures.
    package func blocked() async throws -> [PerceptualHash] { Self.hashes(try await state.value(for: Self.blockedKey)) }

    /// Blocks or unblocks a picture in every size.
    package func setBlocked(_ isBlocked: Bool, for hash: PerceptualHash) async throws {
        try await state.change(Self.blockedKey) { text in
            let others = Self.hashes(text).filter { $0 != hash }
            let all = isBlocked ? others + [hash] : others
            return Self.text(all)
        }
    }

    // MARK: Searches

    /// A picture that another server has blocked, and whose titles are still to be found on this server.
    struct Search: Equatable {
        let picture: PerceptualHash
        /// The number of times that the search was asked for. One that began before the last time is not enough.
        fileprivate var times: Int
    }

    func searches() async throws -> [Search] { Self.searches(try await state.value(for: Self.searchesKey)) }

    /// Asks for searches. They stay due, also after a restart, until `removeSearches`.
    package func addSearches(for pictures: [PerceptualHash]) async throws {
        guard !pictures.isEmpty else { return }
        try await state.change(Self.searchesKey) { text in
            var searches = Self.searches(text)
            for picture in pictures {
                if let known = searches.firstIndex(where: { $0.picture == picture }) {
                    searches[known].times &+= 1
                } else {
                    searches.append(Search(picture: picture, times: 1))
                }
            }
            return Self.text(searches)
        }
    }

    /// Removes searches that are done, unless they were asked for again since they began.
    func removeSearches(_ done: [Search]) async throws {
        try await state.change(Self.searchesKey) { text in Self.text(Self.searches(text).filter { !done.contains($0) }) }
    }

    private static func text(_ searches: [Search]) -> String? {
        searches.isEmpty ? nil : searches.map { "\($0.picture) \($0.times)" }.joined(separator: "\n")
    }

    private static func searches(_ text: String?) -> [Search] {
        (text ?? "").split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count == 2, let picture = PerceptualHash(parts[0]), let times = Int(parts[1]) else { return nil }
            return Search(picture: picture, times: times)
        }
    }

    // MARK: Decisions of all servers

    /// Makes a decision of all servers here. The automatic choice stays if the decision allows it. A decision that was removed
    /// takes the choice with it. A choice that cannot be read is replaced.
    package func apply(_ decision: PosterDecision, for image: ImageReference) async throws -> (
        choice: PosterChoice, isChanged: Bool
    ) {
        try await state.update(Self.key(image)) { text in
            var choice = PosterChoice()
            do { choice = try text.map(Self.read) ?? choice } catch { choice = PosterChoice() }
            guard choice.decision != decision else { return (choice, false) }
            choice.decision = decision
            if decision.isEmpty { choice = PosterChoice() }
            text = try decision.isEmpty ? nil : Self.write(choice)
            return (choice, true)
        }
    }

    /// Blocks exactly these pictures.
    package func apply(blocked hashes: [PerceptualHash]) async throws -> (added: [PerceptualHash], removed: [PerceptualHash]) {
        try await state.update(Self.blockedKey) { text in
            let before = Self.hashes(text)
            text = Self.text(hashes)
            return (hashes.filter { !before.contains($0) }, before.filter { !hashes.contains($0) })
        }
    }

    /// The decision about `image`; an empty one if there is none, or if it cannot be read.
    package func decision(of image: ImageReference) async throws -> PosterDecision {
        guard let text = try await state.value(for: Self.key(image)) else { return PosterDecision() }
        do { return try Self.read(text).decision } catch { return PosterDecision() }
    }

    /// The images with a decision.
    package func decided() async throws -> [ImageReference] {
        try await state.values(unlike: Self.undecided).compactMap { key, value in
            guard key.starts(withBytesOf: Self.titleKey) else { return nil }
            do { guard try !Self.read(value).decision.isEmpty else { return nil } } catch { return nil }
            return ImageReference(written: String(decoding: key.utf8.dropFirst(Self.titleKey.utf8.count), as: UTF8.self))
        }
    }

    /// Whether this server has once read the decisions that it shares with others.
    package func isShared() async throws -> Bool { try await state.value(for: Self.sharedKey) != nil }

    package func noteShared() async throws { try await state.set("1", for: Self.sharedKey) }

    // MARK: Values

    private static func text(_ hashes: [PerceptualHash]) -> String? {
        hashes.isEmpty ? nil : hashes.map(\.description).joined(separator: " ")
    }

    private static func hashes(_ text: String?) -> [PerceptualHash] {
        (text ?? "").split(separator: " ").compactMap(PerceptualHash.init)
    }

    private static func key(_ image: ImageReference) -> String { titleKey + image.description }

    private static func read(_ text: String) throws -> PosterChoice {
        try JSONDecoder().decode(PosterChoice.self, from: Data(text.utf8))
    }

    private static func write(_ choice: PosterChoice) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(choice), as: UTF8.self)
    }
}

/// Counts, from 1.
private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

extension CacheTag {
    /// The tag of all entries that show this picture.
    package static func picture(_ hash: PerceptualHash) -> Self { Self("picture:\(hash)") }
}
