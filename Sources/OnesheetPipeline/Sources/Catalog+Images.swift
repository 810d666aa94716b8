import OnesheetCore

extension Catalog {
    /// The candidates for `image`, best first by `ImageRule`. Asks for the title too if its own language matters.
    func candidates(
        for image: ImageReference, from found: (any ContentSource)? = nil
    ) async throws(Failure) -> [RankedCandidate] {
        let source = try source(image.title.source, found: found)
        let all = try await candidates(for: image.title, from: source)
        let languages = ImageRule.languages(of: image.selector, configured: source.languages)
        var original: LanguageTag?
        if languages?.needsOriginal ?? false, all.contains(where: { $0.kind == image.selector.kind && $0.language != nil }) {
            do throws(Failure) {
                original = try await title(image.title, from: source).originalLanguage
            } catch {
                // The source may have images of a title that it does not describe. After any other failure, the choice would be another one
                // than the next time, which only images may be that are kept for minutes.
                guard error.status == .notFound || all.contains(where: \.isProvisional) else { throw error }
            }
        }
        return ImageRule(image.selector.kind, in: languages, original: original).ranked(all)
    }

    /// The same from cached answers; `nil` if there are none. Asks nothing.
    func keptCandidates(for image: ImageReference, from source: any ContentSource) async -> [RankedCandidate]? {
        let kept = await kept(image.title)
        guard let candidates = kept.candidates else { return nil }
        let languages = ImageRule.languages(of: image.selector, configured: source.languages)
        return ImageRule(image.selector.kind, in: languages, original: kept.title?.originalLanguage).ranked(candidates)
    }
}
