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

extension Transform {
    /// Whether the transform changes nothing except perhaps the format. No file looks more like the original than itself, so finding
    /// the quality alone changes nothing.
    var changesNoPixel: Bool {
        var rest = self
        (rest.format, rest.isForAllClients, rest.findsQuality) = (nil, false, false)
        return rest == Transform()
    }

    /// Whether the transform leaves an original of `mediaType` unchanged.
    func isIdentity(for mediaType: String) -> Bool {
        guard changesNoPixel || isSkipped(for: mediaType) else { return false }
        if isForAllClients { return [ImageFormat.jpeg, .png].contains { $0.mediaType == mediaType } }
        return format == nil || format?.mediaType == mediaType
    }

    /// Whether the original is returned as it is because of its format. Limits of its size are checked by the renderer, which then makes the
    /// variant as usual.
    private func isSkipped(for mediaType: String) -> Bool {
        maxSourcePixels == 0 && maxSourceBytes == 0 && skips.contains { $0.mediaType == mediaType }
    }
}
