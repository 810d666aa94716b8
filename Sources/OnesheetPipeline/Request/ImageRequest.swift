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

    /// The key of the original that the variant is made of.
    package static func originalKey(_ title: TitleReference) -> CacheKey { CacheKey(.original, title.description) }
}
