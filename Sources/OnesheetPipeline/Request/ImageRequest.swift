package import OnesheetCore
internal import OnesheetImaging

/// A request in canonical form. Equal requests in different dialects have equal keys and share one cache entry.
package struct ImageRequest: Sendable {
    package let image: ImageReference
    package let transform: Transform
    /// One of the candidates for the image, for people who choose among them; `nil` for the chosen one.
    package let candidate: PosterCandidate?
    /// The key of the variant. Its text takes longer than a lookup, so it is made once.
    package let key: CacheKey

    package var title: TitleReference { image.title }

    package init(_ title: TitleReference, _ transform: Transform) { self.init(ImageReference(title), transform) }

    package init(_ image: ImageReference, _ transform: Transform, of candidate: PosterCandidate? = nil) {
        self.image = image
        self.transform = transform
        self.candidate = candidate
        let picture = candidate.map { "#\($0.location.name)" } ?? ""
        key = CacheKey(.variant, "\(image.description)#\(Renderer.version)#\(transform.canonicalText)\(picture)")
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
    package static func originalKey(_ image: ImageReference) -> CacheKey { CacheKey(.original, image.description) }
}
