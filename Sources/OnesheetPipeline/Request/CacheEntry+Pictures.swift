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
    /// An entry for an original that is a drawing, in the form in which it is served.
    init(
        _ drawing: SVGDocument, from origin: String, of image: ImageReference, created: WallClock,
        lives cacheTime: CacheExpiration
    ) {
        self.init(
            body: drawing.bytes, mediaType: ImageFormat.svg.mediaType, validator: Validator.of(drawing.bytes), created: created.now,
            cacheTime: cacheTime, tags: image.tags, provenance: Provenance(location: origin),
            presentation: Presentation(width: drawing.width, height: drawing.height))
    }

    /// Whether it is a drawing (SVG).
    var isDrawing: Bool { mediaType == ImageFormat.svg.mediaType }

    /// The hash of a drawing; `nil` if it is none. It has no pixels to compare, so only a drawing with the same bytes is the same picture: half of
    /// the bits of its digest, of which two different ones hardly agree.
    var hashOfDrawing: PerceptualHash? {
        guard isDrawing, let digest = Data(base64URL: validator) else { return nil }
        return PerceptualHash(bits: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
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
