package import OnesheetCore
package import OnesheetImaging

/// Where the administrator's decisions are made: on this server alone (`PosterChoices`), or on all servers that share a store. The purge
/// that follows tells the other servers.
package protocol PosterDecisions: Sendable {
    /// Changes the decision about an image. A purge of the title has to follow.
    func decide(
        _ image: ImageReference, _ body: @escaping @Sendable (inout PosterDecision) throws -> Void
    ) async throws -> PosterChoice
    /// Removes the decision about an image, and the choice. A purge of the title has to follow.
    func forget(_ image: ImageReference) async throws
    /// Blocks or unblocks a picture in every size. A purge of the picture has to follow.
    func setBlocked(_ isBlocked: Bool, for hash: PerceptualHash) async throws
}

extension PosterChoices: PosterDecisions {
    package func decide(
        _ image: ImageReference, _ body: @escaping @Sendable (inout PosterDecision) throws -> Void
    ) async throws -> PosterChoice {
        try await change(image) { try body(&$0.decision) }
    }
}

/// Tells the other servers that a decision has changed.
package enum DecisionNotice: Sendable, Hashable {
    case poster(ImageReference)
    /// The list of blocked pictures.
    case blocked

    private static let posterPrefix = "poster "

    /// `nil` if the tag is not the notice of a decision.
    package init?(_ tag: CacheTag) {
        guard let text = tag.notice else { return nil }
        if text.isExactly("blocked") {
            self = .blocked
            return
        }
        guard text.starts(withBytesOf: Self.posterPrefix) else { return nil }
        let written = String(decoding: text.utf8.dropFirst(Self.posterPrefix.utf8.count), as: UTF8.self)
        guard let image = ImageReference(written: written) else { return nil }
        self = .poster(image)
    }

    package var tag: CacheTag {
        switch self {
        case .poster(let image): .notice("\(Self.posterPrefix)\(image)")
        case .blocked: .notice("blocked")
        }
    }
}
