import OnesheetImaging
package import OnesheetCore

/// Facts about a title's poster that are known without fetching it, once any size of it was made.
package struct PosterFacts: Sendable, Equatable, Codable {
    /// The original that they are about.
    package let original: String
    /// Pixels of the original as it is shown.
    package let width: Int
    package let height: Int
    /// In base64, as the hash's own libraries take it.
    package let thumbHash: String
    /// `#rrggbb`
    package let color: String

    /// What `variant`, which shows the whole poster, says of it; `nil` for one made before such things were noted.
    init?(_ variant: CacheEntry, of original: CacheEntry) {
        guard let width = original.presentation.width, let height = original.presentation.height,
            let thumbHash = variant.presentation.thumbHash, let color = variant.presentation.color
        else { return nil }
        (self.original, self.width, self.height) = (original.validator, width, height)
        (self.thumbHash, self.color) = (thumbHash, color.hexadecimal)
    }

    /// The size that `transform` makes of it.
    package func size(_ transform: Transform) -> (width: Int, height: Int) {
        Renderer.size(of: transform, width: width, height: height)
    }
}

extension Transform {
    /// Whether the variant shows all of its original, as it is and nothing else.
    var showsWhole: Bool {
        resizing == .fit && extends == nil && crop == nil && rotation == 0 && !flipsHorizontally && !flipsVertically
            && padding == nil && blur == 0
    }
}
