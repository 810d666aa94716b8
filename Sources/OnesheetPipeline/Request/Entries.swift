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
    /// When its original's origin was last asked for it; the time it was made, if it has no origin.
    package var validated: Date { provenance.askedAt ?? created }

    /// What may be done with this entry at `now`, going by its original.
    func state(at now: Date) -> Freshness.State {
        guard let freshness else { return .fresh }
        // The origin was asked in the future: the clock was set back, and its age is unknown.
        return ExpirationPolicy.isFresh(created: validated, end: nil, now: now) ? freshness.state(at: now) : .stale
    }
}

extension Transform {
    /// Whether this asks for the original as it is, in its own format or another.
    var changesNoPixel: Bool {
        var rest = self
        rest.format = nil
        return rest == Transform()
    }

    /// Whether this asks for an original of `mediaType` just as it is.
    func isIdentity(for mediaType: String) -> Bool { changesNoPixel && (format == nil || format?.mediaType == mediaType) }
}
