import FoundationEssentials
import OnesheetCache
import OnesheetCore
import OnesheetImaging

extension CacheEntry {
    /// An entry for the original of `image`.
    init(
        _ file: PictureFile, _ outline: PictureOutline, of image: ImageReference, created: WallClock,
        lives cacheTime: CacheExpiration
    ) {
        self.init(
            body: file.bytes, mediaType: outline.format.mediaType, validator: file.validator, created: created.now,
            cacheTime: cacheTime, tags: image.tags, provenance: Provenance(location: file.origin),
            presentation: Presentation(width: outline.width, height: outline.height))
    }
}

extension CacheEntry {
    /// An entry for a variant of `image`.
    init(
        _ rendered: RenderedImage, of image: ImageReference, created: WallClock, lives cacheTime: CacheExpiration, cost: Double
    ) {
        self.init(
            body: rendered.body, mediaType: rendered.format.mediaType, validator: Validator.of(rendered.body), created: created.now,
            cacheTime: cacheTime, tags: image.tags, cost: cost,
            presentation: Presentation(
                width: rendered.width, height: rendered.height, color: rendered.placeholder.color,
                thumbHash: Data(rendered.placeholder.thumbHash).base64EncodedString()))
    }
}

extension ImageReference {
    /// The tags of everything that shows the image. A purge of the title purges all its images.
    var tags: [CacheTag] {
        [.source(title.source), .title(title)] + (selector == .poster ? [] : [ownTag])
    }

    /// The tag of the image alone. The poster has that of its title.
    var ownTag: CacheTag { selector == .poster ? .title(title) : CacheTag("image:\(self)") }
}
