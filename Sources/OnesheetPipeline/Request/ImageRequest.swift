package import OnesheetCore

/// A request in canonical form. Equal requests in different dialects are equal values and share one cache entry.
package struct ImageRequest: Hashable, Sendable {
    package let title: TitleReference
    package let transform: Transform
    /// The key of the variant. Its text takes longer than a look-up, so it is made once.
    package let key: CacheKey

    package init(_ title: TitleReference, _ transform: Transform) {
        (self.title, self.transform) = (title, transform)
        key = CacheKey(.variant, "\(title.description)#\(transform.canonicalText)")
    }

    /// The key of the original that the variant is made of.
    package static func originalKey(_ title: TitleReference) -> CacheKey { CacheKey(.original, title.description) }
}
