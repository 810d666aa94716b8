package import FoundationEssentials
import NIOCore
import OnesheetCache
package import OnesheetCore
import OnesheetHTTP
import OnesheetImaging

extension CacheEntry {
    /// An entry for a picture of `title`.
    init(
        _ body: ByteBuffer, _ mediaType: String, of title: TitleReference, created: WallClock, lives cacheTime: CacheExpiration,
        cost: Double, provenance: Provenance = Provenance(), presentation: Presentation
    ) {
        self.init(
            body: body, mediaType: mediaType, validator: Validator.of(body), created: created.now, cacheTime: cacheTime,
            tags: [.source(title.source), .title(title)], cost: cost, provenance: provenance,
            presentation: presentation)
    }
}

extension CacheEntry {
    /// An entry for a variant of `title`.
    init(
        _ image: RenderedImage, of title: TitleReference, created: WallClock, lives cacheTime: CacheExpiration, cost: Double
    ) {
        self.init(
            image.body, image.format.mediaType, of: title, created: created, lives: cacheTime, cost: cost,
            presentation: Presentation(
                width: image.width, height: image.height, color: image.placeholder.color,
                thumbHash: Data(image.placeholder.thumbHash).base64EncodedString()))
    }
}

extension CacheEntry {
    /// When the origin was last asked for the original; the time at which the entry was made, if it has no origin.
    package var validated: Date { provenance.askedAt ?? created }

    /// The permitted use of this entry at `now`, according to the freshness of its original.
    func state(at now: Date) -> Freshness.State {
        guard let freshness else { return .fresh }
        // The origin was asked in the future: the clock was set back, and the age is unknown.
        return ExpirationPolicy.isFresh(created: validated, end: nil, now: now) ? freshness.state(at: now) : .stale
    }
}

extension Transform {
    /// Whether the transform changes nothing except perhaps the format.
    var changesNoPixel: Bool {
        var rest = self
        rest.format = nil
        return rest == Transform()
    }

    /// Whether the transform leaves an original of `mediaType` unchanged.
    func isIdentity(for mediaType: String) -> Bool { changesNoPixel && (format == nil || format?.mediaType == mediaType) }
}
