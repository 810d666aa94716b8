import FoundationEssentials
package import OnesheetCache
package import OnesheetCore
package import OnesheetImaging

/// What is remembered about posters, over restarts: each title's choice, and the pictures that are never shown.
package struct PosterChoices: Sendable {
    private let state: StatePart
    private static let blockedKey = "blocked"

    package init(_ store: StateStore) { state = store.part("posters") }

    /// What is remembered about `title`; nothing where nobody has chosen yet.
    package func choice(of title: TitleReference) async throws -> PosterChoice {
        try await state.value(for: Self.key(title)).map(Self.read) ?? PosterChoice()
    }

    /// Changes what is remembered about `title`; nobody else changes it meanwhile.
    @discardableResult
    package func change(
        _ title: TitleReference, _ body: @escaping @Sendable (inout PosterChoice) throws -> Void
    ) async throws -> PosterChoice {
        let text = try await state.change(Self.key(title)) { text in
            var choice = try text.map(Self.read) ?? PosterChoice()
            try body(&choice)
            return try Self.write(choice)
        }
        return try text.map(Self.read) ?? PosterChoice()
    }

    /// Forgets all about `title`: the next election is free.
    package func forget(_ title: TitleReference) async throws { try await state.set(nil, for: Self.key(title)) }

    /// The pictures that are never shown.
    package func blocked() async throws -> [PictureHash] { Self.hashes(try await state.value(for: Self.blockedKey)) }

    /// Blocks a picture in every size, or no longer.
    package func block(_ hash: PictureHash, _ isBlocked: Bool = true) async throws {
        try await state.change(Self.blockedKey) { text in
            let others = Self.hashes(text).filter { $0 != hash }
            let all = isBlocked ? others + [hash] : others
            return all.isEmpty ? nil : all.map(\.description).joined(separator: " ")
        }
    }

    private static func hashes(_ text: String?) -> [PictureHash] { (text ?? "").split(separator: " ").compactMap(PictureHash.init) }

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
