package import OnesheetCore

/// What is asked for, in canonical form: whatever dialect it came in, equal requests are equal values and share one cache entry.
package struct ImageRequest: Hashable, Sendable {
    package let title: TitleReference
    package let transform: Transform

    package init(_ title: TitleReference, _ transform: Transform) {
        (self.title, self.transform) = (title, transform)
    }

    /// The key of the variant.
    package var key: CacheKey { CacheKey(.variant, "\(title.description)#\(transform.canonicalText)") }

    /// The key of the original that the variant is made of.
    package static func originalKey(_ title: TitleReference) -> CacheKey { CacheKey(.original, title.description) }
}
