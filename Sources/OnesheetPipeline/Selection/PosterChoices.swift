import FoundationEssentials
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging
import Synchronization

/// The stored choices of posters: one for each title, and the blocked pictures. They survive restarts.
package struct PosterChoices: Sendable {
    private let state: StatePart
    private let limit: Int
    private let changes = Counter()
    private static let blockedKey = "blocked"
    /// The number of changes between two checks of the total size.
    private static let trimming = 100

    /// - Parameter limit: the approximate bytes of all choices. Beyond it, choices without a decision of the administrator are
    ///   removed, and made again when their titles are requested.
    package init(_ store: StateStore, limit: Int = 64 << 20) {
        state = store.part("posters")
        self.limit = limit
    }

    /// The stored choice for `title`; an empty one if there is none.
    package func choice(of title: TitleReference) async throws -> PosterChoice {
        try await state.value(for: Self.key(title)).map(Self.read) ?? PosterChoice()
    }

    /// Changes the stored choice for `title` in one atomic step.
    @discardableResult
    package func change(
        _ title: TitleReference, _ body: @escaping @Sendable (inout PosterChoice) throws -> Void
    ) async throws -> PosterChoice {
        let text = try await state.change(Self.key(title)) { text in
            var choice = try text.map(Self.read) ?? PosterChoice()
            try body(&choice)
            return try Self.write(choice)
        }
        // Titles can be made up without end, and each one that a search finds pictures for has a choice.
        if changes.next() % Self.trimming == 0 {
            try await state.trim(above: limit, holding: ["\"isPinned\":false", "\"rejected\":[]"])
        }
        return try text.map(Self.read) ?? PosterChoice()
    }

    /// Forgets the choice for `title`.
    package func forget(_ title: TitleReference) async throws { try await state.set(nil, for: Self.key(title)) }

    /// The blocked pictures.
    package func blocked() async throws -> [PerceptualHash] { Self.hashes(try await state.value(for: Self.blockedKey)) }

    /// Blocks or unblocks a picture in every size.
    package func setBlocked(_ isBlocked: Bool, for hash: PerceptualHash) async throws {
        try await state.change(Self.blockedKey) { text in
            let others = Self.hashes(text).filter { $0 != hash }
            let all = isBlocked ? others + [hash] : others
            return all.isEmpty ? nil : all.map(\.description).joined(separator: " ")
        }
    }

    private static func hashes(_ text: String?) -> [PerceptualHash] {
        (text ?? "").split(separator: " ").compactMap(PerceptualHash.init)
    }

    private static func key(_ title: TitleReference) -> String { "title \(title)" }

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
