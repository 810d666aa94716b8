import FoundationEssentials
import OnesheetCache
import OnesheetCore
import OnesheetImaging

extension CacheEntry {
    /// An entry for the original of `title`.
    init(
        _ file: PictureFile, _ outline: PictureOutline, of title: TitleReference, created: WallClock,
        lives cacheTime: CacheExpiration
    ) {
        self.init(
            body: file.bytes, mediaType: outline.format.mediaType, validator: file.validator, created: created.now,
            cacheTime: cacheTime, tags: [.source(title.source), .title(title)], provenance: Provenance(location: file.origin),
            presentation: Presentation(width: outline.width, height: outline.height))
    }
}

extension CacheEntry {
    /// An entry for a variant of `title`.
    init(
        _ image: RenderedImage, of title: TitleReference, created: WallClock, lives cacheTime: CacheExpiration, cost: Double
    ) {
        self.init(
            body: image.body, mediaType: image.format.mediaType, validator: Validator.of(image.body), created: created.now,
            cacheTime: cacheTime, tags: [.source(title.source), .title(title)], cost: cost,
            presentation: Presentation(
                width: image.width, height: image.height, color: image.placeholder.color,
                thumbHash: Data(image.placeholder.thumbHash).base64EncodedString()))
    }
}
