import FoundationEssentials
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// A decision as a value that servers share.
struct SharedDecision: Codable {
    private let source: String
    private let id: String
    /// Which image of the title; `nil` for its poster, the only one that earlier versions know.
    private let selector: ImageSelector?
    let decision: PosterDecision

    private enum CodingKeys: String, CodingKey {
        case source, id, decision
        case selector = "image"
    }

    init(_ image: ImageReference, _ decision: PosterDecision) {
        source = image.title.source
        id = image.title.id
        selector = image.selector == .poster ? nil : image.selector
        self.decision = decision
    }

    /// Reads the value called `name`; `nil` if it is not a decision with that name.
    init?(_ text: String, named name: String) {
        do { self = try Self(readingJSON: ByteBuffer(string: text)) } catch { return nil }
        guard Self.name(of: image).isExactly(name) else { return nil }
    }

    var image: ImageReference { ImageReference(TitleReference(source: source, id: id), selector ?? .poster) }

    static func name(of image: ImageReference) -> String {
        SharedValues.name(of: "title:\(image)", in: SharedDecisions.folder)
    }

    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension SharedValues {
    /// Changes the decision about an image.
    /// - Parameter known: the decision if the store has none.
    func change(
        of image: ImageReference, from known: PosterDecision, _ body: @Sendable (inout PosterDecision) throws -> Void
    ) async throws -> PosterDecision {
        let name = SharedDecision.name(of: image)
        let text = try await change(name) { text in
            let present = text.flatMap { SharedDecision($0, named: name)?.decision }
            var decision = present ?? known
            try body(&decision)
            if let present, present == decision { return text }
            if text == nil, decision.isEmpty { return nil }
            return try SharedDecision(image, decision).text()
        }
        return text.flatMap { SharedDecision($0, named: name)?.decision } ?? PosterDecision()
    }
}

extension PosterDecision {
    /// Adds what another server has decided before the two shared their decisions. Of two pins this one stays.
    mutating func join(_ other: PosterDecision) {
        rejected.formUnion(other.rejected)
        matches.merge(other.matches) { own, _ in own }
        pinned = pinned ?? other.pinned
        if let pinned { rejected.remove(pinned) }
    }
}
