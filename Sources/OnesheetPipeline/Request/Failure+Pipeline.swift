package import OnesheetCore

/// The failures that the pipeline finds itself.
extension Failure {
    /// No source has this name; `known` lists the names.
    package static func unknownSource(_ name: String, known: [String]) -> Failure {
        Failure(blame: .request, status: .notFound, title: "Not found", message: unknownName(name, kind: "source", known: known))
    }

    /// The title exists and has no such image, such as a poster.
    package static func noImage(_ image: ImageReference) -> Failure {
        let kind = image.selector.kind.rawValue
        return Failure(
            blame: .request, status: .notFound, title: "Not found", message: "\(shown(image.title)) has no \(kind)",
            summary: "there is no \(kind)", memory: Memory(image: 120))
    }

    /// The origin does not have the image or refuses it; `answer` is its HTTP status.
    /// - Parameter keepsRemoved: whether the operator keeps images that their owner has removed.
    package static func originRefused(url: String, answer: Int, keepsRemoved: Bool = false) -> Failure {
        let isMissing = answer == 404 || answer == 410
        let isRemoval = isMissing || answer == 403 || answer == 451
        // RFC 5861 §4 names four statuses. An unknown one counts as 500 (RFC 9110 §15). A 429 says nothing about the image.
        let isFailing = [429, 500, 502, 503, 504].contains(answer) || (512...599).contains(answer)
        var traits: Traits = .isRefusal
        if isMissing { traits.insert(.isMissing) }
        if isRemoval, !keepsRemoved { traits.insert(.isRemoval) }
        if isFailing || (isRemoval && keepsRemoved) { traits.insert(.allowsStale) }
        if answer >= 500 || answer == 429 { traits.insert(.keepsChoice) }
        return Failure(
            blame: .origin, status: isMissing ? .notFound : .badGateway, title: isMissing ? "Not found" : "Origin failed",
            message: "the origin of the image answers \(answer)", details: shown(url), memory: Memory(image: isMissing ? 120 : 30),
            traits: traits)
    }

    /// Whether no stale image is served after it, neither instead of it nor while its origin is asked again.
    var endsStaleness: Bool { !traits.contains(.allowsStale) && !isOurs }

    /// Parsing the original or rendering has occupied a thread for this time, and may still do so.
    package static func timedOut(_ limit: Duration) -> Failure {
        Failure(
            blame: .image, status: .tooSlow, title: "Image too slow", message: "the image was not made within \(limit)",
            memory: Memory(image: 600), traits: [.allowsStale, .keepsChoice, .namesNoSource])
    }
}
