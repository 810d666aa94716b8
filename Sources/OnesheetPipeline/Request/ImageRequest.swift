package import OnesheetCore
internal import OnesheetImaging

/// A request in canonical form. Equal requests in different dialects have equal keys and share one cache entry.
package struct ImageRequest: Sendable {
    package let title: TitleReference
    package let transform: Transform
    /// One of the title's candidates, for people who choose among them; `nil` for the title's poster.
    package let candidate: PosterCandidate?
    /// The key of the variant. Its text takes longer than a lookup, so it is made once.
    package let key: CacheKey

    package init(_ title: TitleReference, _ transform: Transform, of candidate: PosterCandidate? = nil) {
        self.title = title
        self.transform = transform
        self.candidate = candidate
        let picture = candidate.map { "#\($0.location.name)" } ?? ""
        key = CacheKey(.variant, "\(title.description)#\(Renderer.version)#\(transform.canonicalText)\(picture)")
    }

    /// Whether `key` is that of a variant whose original is none of `originals`, the texts of their keys.
    static func isVariant(_ key: CacheKey, withoutAny originals: Set<ExactText>) -> Bool {
        guard key.kind == .variant else { return false }
        let (text, mark) = (key.text, "#\(Renderer.version)#")
        // An id may have the mark, too. An address is limited in length, but keys are not worth more than a few copies.
        var (tries, rest) = (0, text[...])
        while tries < 8, let found = rest.firstRange(ofBytesOf: mark) {
            if originals.contains(ExactText(text[..<found.lowerBound])) { return false }
            rest = rest[found.upperBound...]
            tries += 1
        }
        return true
    }

    /// The key of the original that the variant is made of.
    package static func originalKey(_ title: TitleReference) -> CacheKey { CacheKey(.original, title.description) }
}
