import OnesheetImaging
package import OnesheetCore

/// Facts about a title's poster that are known without a fetch, once any size of it has been made.
package struct PosterFacts: Sendable, Equatable, Codable {
    /// The original that they describe.
    package let original: String
    /// Pixels of the original after orientation.
    package let width: Int
    package let height: Int
    /// Base64, as the libraries of ThumbHash take it.
    package let thumbHash: String
    /// `#rrggbb`
    package let color: String

    /// The facts in `variant`, which shows the whole poster; `nil` if it was stored by a version that did not record them.
    init?(_ variant: CacheEntry, of original: CacheEntry) {
        guard let width = original.presentation.width, let height = original.presentation.height,
            let thumbHash = variant.presentation.thumbHash, let color = variant.presentation.color
        else { return nil }
        self.original = original.validator
        self.width = width
        self.height = height
        self.thumbHash = thumbHash
        self.color = color.hexadecimal
    }

    /// The size of the result of `transform`.
    package func size(_ transform: Transform) -> (width: Int, height: Int) {
        Renderer.size(of: transform, width: width, height: height)
    }
}
